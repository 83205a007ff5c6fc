import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../../config/settings.js'
import type { Database } from '../../database/pool.js'
import { withTimeout } from '../../lib/async/timeout.js'
import { createLogger } from '../../log.js'
import { type Report, runChecks } from '../doctor/check.js'
import { installationChecks, onCurrentTables } from '../doctor/installation.js'
import { machineChecks } from '../doctor/machine.js'
import { numberChecks } from '../doctor/numbers.js'
import { addressChecks, gatewayKeyChecks, replicaChecks, secretChecks, upstreamChecks } from '../doctor/reach.js'
import { scheduledChecks } from '../doctor/scheduled.js'
import { serverChecks } from '../doctor/server.js'
import { suspensionChecks } from '../doctor/suspensions.js'
import { openConfiguredDatabase, requireSharedConfig } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Invocation } from '../invocation.js'
import { inOneLine, printList } from '../output.js'

interface Options {
  json?: boolean
}

const CLOSE_MS = 5_000
const START =
  'start PostgreSQL, or restart it if it hangs (docs/runbook.md#parleydatabaseunreachable), or correct PARLEY_DATABASE_URL'
const MARKS = { ok: 'ok     ', warning: 'warning', failed: 'failed ' } as const

/** `parley doctor`: checks the environment of the service, and says what to do. */
export function addDoctorCommand(program: Command, invocation: Invocation): void {
  program
    .command('doctor')
    .description('check settings, database, files, public address and upstream, and say what to do')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nIt changes nothing, and may be used while the service runs. It ends within a minute. The exit code is 1 if a check failed.',
    )
    .action((options) => doctor(invocation, options))
}

async function doctor({ env, streams }: Invocation, { json = false }: Options): Promise<void> {
  const reports = await checkService(env)
  if (json) printList(streams, reports, { json })
  else for (const report of reports) streams.stdout.write(describe(report))
  const count = reports.filter(({ level }) => level === 'failed').length
  if (count > 0) throw new CliFailure(1, count === 1 ? '1 check failed' : `${count} checks failed`)
}

function describe({ check, level, found, remedy }: Report): string {
  return `${MARKS[level]}  ${check}: ${inOneLine(found)}\n${remedy === null ? '' : `         ${remedy}\n`}`
}

async function checkService(env: Invocation['env']): Promise<Report[]> {
  const config = await requireSharedConfig(env).catch((error: unknown) => {
    if (error instanceof CliFailure) return error.message
    throw error
  })
  if (typeof config === 'string') return [report('settings', config, 'correct the setting (docs/configuration.md)')]
  const [ofDatabase, ofMachine, ofAddress] = await Promise.all([
    checkDatabase(config),
    runChecks(machineChecks(config)),
    runChecks(addressChecks(config)),
  ])
  const isDown = ofDatabase.some(({ check, level }) => check === 'database' && level === 'failed')
  return [
    { check: 'settings', level: 'ok', found: 'valid', remedy: null },
    ...ofDatabase,
    ...ofMachine,
    ...(isDown ? ofAddress.map(afterDatabase) : ofAddress),
  ]
}

/** Without its database the service answers little, and a proxy in front of it for it: that is no fault of the address. */
function afterDatabase(ofAddress: Report): Report {
  return ofAddress.level === 'failed'
    ? { ...ofAddress, remedy: 'repair the database first, then check again' }
    : ofAddress
}

/** A missing embedded database is not created. */
async function checkDatabase(config: Config): Promise<Report[]> {
  const folder = join(config.dataDir, 'postgres')
  if (
    config.databaseUrl === undefined &&
    !(await access(folder).then(
      () => true,
      () => false,
    ))
  ) {
    const found = 'the embedded database does not exist yet'
    return [{ check: 'database', level: 'warning', found, remedy: 'parley up or parley serve creates it' }]
  }
  const open = await openConfiguredDatabase(config, createLogger('fatal'), { hold: false }).catch((error: unknown) => {
    if (error instanceof CliFailure) return error.message
    throw error
  })
  if (typeof open === 'string') return [report('database', open, START)]
  try {
    return await runChecks(checksOf(config, open.database))
  } finally {
    await withTimeout(open.close(), CLOSE_MS)
  }
}

function checksOf(config: Config, database: Database) {
  return [
    ...serverChecks(database, config.databaseConnections, { isEmbedded: config.databaseUrl === undefined }),
    ...installationChecks(database),
    ...replicaChecks(config),
    ...onCurrentTables(database, [
      ...secretChecks(config, database),
      ...gatewayKeyChecks(config, database),
      ...suspensionChecks(database),
      ...upstreamChecks(config, database),
      ...numberChecks(database),
      ...scheduledChecks(database),
    ]),
  ]
}

function report(check: string, found: string, remedy: string): Report {
  return { check, level: 'failed', found, remedy }
}
