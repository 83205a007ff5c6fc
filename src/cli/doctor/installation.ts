import { findProcesses, type LiveProcess, readDatabaseTime } from '../../core/processes/process-registry.js'
import { readSchema } from '../../database/migrations/state.js'
import type { Database } from '../../database/pool.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { findLastUse } from '../../storage/processes/process-registry.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'

/** The checks of Parley's tables, and of the processes that use them. */
export function installationChecks(database: Database): Check[] {
  return [
    {
      name: 'schema',
      remedy: 'see parley migrate --status',
      run: async () => {
        const { state, newer, missing } = await readSchema(database.pool)
        switch (state) {
          case 'current':
            return ok(
              newer.length === 0
                ? 'the tables are of this version'
                : 'the tables are of a newer version that this one can use',
            )
          case 'empty':
            return warning('there are no tables of Parley yet', 'run parley migrate')
          case 'behind':
            return failed(`${missing.length} migrations are missing`, 'run parley migrate')
          case 'ahead':
            return failed(
              'the tables are newer than this version',
              'use the version that migrated them, or a later one',
            )
          case 'unreleased':
            return failed(
              'the tables were made by a version before 1.0.0, which is not supported',
              'use an empty database',
            )
        }
      },
    },
    {
      name: 'processes',
      remedy: 'see parley migrate --status',
      run: async () => {
        if (!(await hasSchema(database))) return ok('none are running')
        const processes = await findProcesses({ database })
        return [...(await checkWork(database, processes)), describeVersions(processes)]
      },
    },
  ]
}

/** A worker notes each minute that it works. */
const IDLE_MS = 180_000

/** A finding if no worker works. A process that has just started may be one, and a service that is stopped needs none. */
async function checkWork(database: Database, processes: readonly LiveProcess[]): Promise<Finding[]> {
  const [now, lastWork] = await Promise.all([readDatabaseTime(database), findLastUse(database)])
  const isLongAgo = (at: Date) => now.getTime() - at.getTime() > IDLE_MS
  const hasWorked = lastWork !== null && !isLongAgo(lastWork)
  if (hasWorked || processes.length === 0 || processes.some(({ started_at }) => !isLongAgo(started_at))) return []
  const since = lastWork === null ? '' : `, since ${lastWork.toISOString()}`
  return [
    failed(
      `none does background work (callbacks, jobs, webhooks)${since}`,
      'start a process with the role worker (PARLEY_ROLES); if one runs, see its log, and restart it',
    ),
  ]
}

function describeVersions(processes: readonly LiveProcess[]): Finding {
  const versions = [...new Set(processes.map(({ version }) => version))]
  const found = `${processes.length} running${versions.length === 0 ? '' : ` (${versions.join(', ')})`}`
  const others = processes.filter(({ version }) => version !== packageVersion)
  if (others.length === 0) return ok(found)
  return warning(
    `${found}: ${others.map(describeProcess).join('; ')}`,
    `this is ${packageVersion}: finish the upgrade or go back (docs/upgrade.md), or stop what should not run`,
  )
}

/** Such as "1.0.0 from 10.0.0.3, since 2026-11-21T14:03:07.000Z". */
function describeProcess({ version, address, started_at }: LiveProcess): string {
  return `${version} from ${address ?? "PostgreSQL's machine"}, since ${started_at.toISOString()}`
}

/** The checks, which report nothing while the tables are not of this version: the schema is what is to be mended first. */
export function onCurrentTables(database: Database, checks: readonly Check[]): Check[] {
  return checks.map((check) => ({
    ...check,
    run: async () => {
      const { state } = await readSchema(database.pool)
      return state === 'current' ? check.run() : []
    },
  }))
}

async function hasSchema(database: Database): Promise<boolean> {
  const { state } = await readSchema(database.pool)
  return state !== 'empty' && state !== 'unreleased'
}
