import { findProcesses, type LiveProcess } from '../../core/processes/process-registry.js'
import { listMigrations } from '../../database/migrations/files.js'
import { findWayBack, readSchema, type Schema } from '../../database/migrations/state.js'
import type { Database } from '../../database/pool.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { createLogger } from '../../log.js'
import { applyMigrations, openConfiguredDatabase, prepareSchema, requireConfig } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Invocation } from '../invocation.js'
import { printDone, printFields } from '../output.js'

interface Options {
  contract?: boolean
  status?: boolean
  json?: boolean
}

/** `parley migrate`: brings the database to this version, which can be repeated, or shows how far it is. */
export async function migrate({ env, streams }: Invocation, options: Options): Promise<void> {
  if (options.contract && options.status) throw new CliFailure(2, 'Give --contract or --status, not both')
  const config = requireConfig(env)
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
  try {
    if (options.status) {
      const status = await readStatus(database)
      printFields(streams, options.json ? status : describeStatus(status), options)
      return
    }
    const applied = await applyMigrations(database, options)
    // A schema that is too new has nothing to apply but is an error.
    const { waiting } = await prepareSchema(config, database, { migrate: false })
    printDone(streams, [...describeApplied(applied), ...describeWaiting(waiting)].join('\n'), options)
  } finally {
    await close()
  }
}

function describeApplied(applied: readonly string[]): string[] {
  return [applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`]
}

function describeWaiting(waiting: Schema['waiting']): string[] {
  if (waiting.length === 0) return []
  const names = waiting.map(({ name }) => name).join(', ')
  return [
    `Not applied yet, because the version before needs what they remove: ${names}. When you will not go back to it, run 'parley migrate --contract'`,
  ]
}

/** What `parley migrate --status` shows. */
interface Status {
  version: string
  schema: Schema['state']
  /** The name of the newest migration that was applied. */
  newest: string | null
  missing: string[]
  /** Migrations that wait for `--contract`. */
  waiting: string[]
  /** Applied migrations that this version does not know. */
  newer: string[]
  /** The version to which one can go back without a restore; null: to none. */
  backTo: string | null
  processes: LiveProcess[]
}

async function readStatus(database: Database): Promise<Status> {
  const schema = await readSchema(database.pool)
  const { state, applied, missing, waiting, newer } = schema
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)
  // An older schema may lack the table.
  const hasProcesses = state === 'current' || state === 'ahead'
  return {
    version: packageVersion,
    schema: state,
    newest: applied.at(-1)?.name ?? null,
    missing: names(missing),
    waiting: names(waiting),
    newer: names(newer),
    backTo: findWayBack(schema, await listMigrations()),
    processes: hasProcesses ? await findProcesses({ database }) : [],
  }
}

function describeStatus(status: Status): object {
  const list = (names: readonly string[]) => names.join(', ') || 'none'
  return {
    version: status.version,
    schema: status.newest === null ? status.schema : `${status.schema}, at ${status.newest}`,
    missing: list(status.missing),
    'waiting for --contract': list(status.waiting),
    ...(status.newer.length > 0 && { 'of a newer version': list(status.newer) }),
    'can go back to': status.backTo ?? 'no version without a restore',
    processes: countVersions(status.processes),
  }
}

/** Such as "2 of 1.1.0, 1 of 1.0.0". */
function countVersions(processes: readonly LiveProcess[]): string {
  const counts = new Map<string, number>()
  for (const { version } of processes) counts.set(version, (counts.get(version) ?? 0) + 1)
  return [...counts].map(([version, count]) => `${count} of ${version}`).join(', ') || 'none'
}
