import { findProcesses } from '../../core/runtime/process-registry.js'
import { readSchema } from '../../database/migrations/state.js'
import type { Database } from '../../database/pool.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { findCrowdedTables } from '../../storage/runtime/crowded-tables.js'
import { type Check, failed, ok, warning } from './check.js'

/** The checks of Parley's own database. */
export function installationChecks(database: Database): Check[] {
  return [
    {
      name: 'schema',
      remedy: 'see parley migrate --status',
      run: async () => {
        const { state, newer, missing } = await readSchema(database.pool)
        switch (state) {
          case 'current':
            return ok(newer.length === 0 ? 'of this version' : 'of a newer version that this one can serve')
          case 'empty':
            return warning('there are no tables of Parley yet', 'run parley migrate')
          case 'behind':
            return failed(`${missing.length} migrations are missing`, 'run parley migrate')
          case 'ahead':
            return failed('newer than this version', 'use the version that migrated it, or a later one')
          case 'unreleased':
            return failed('made by a version before 1.0.0, which is not supported', 'use an empty database')
        }
      },
    },
    {
      name: 'processes',
      remedy: 'see parley migrate --status',
      run: async () => {
        if (!(await hasSchema(database))) return ok('none')
        const versions = (await findProcesses({ database })).map(({ version }) => version)
        const found = `${versions.length} running${versions.length === 0 ? '' : ` (${[...new Set(versions)].join(', ')})`}`
        const isMixed = versions.some((version) => version !== packageVersion)
        return isMixed ? warning(found, `this is ${packageVersion}: finish the upgrade (docs/upgrade.md)`) : ok(found)
      },
    },
    {
      name: 'vacuum',
      remedy: 'look at pg_stat_user_tables',
      run: async () => {
        const crowded = (await findCrowdedTables(database)).map(
          ({ table, dead, live }) => `${table} ${dead} of ${dead + live}`,
        )
        if (crowded.length === 0) return ok('no large table has many dead rows')
        return warning(
          `dead rows: ${crowded.join(', ')}`,
          'end transactions that have been open for long (pg_stat_activity), and let autovacuum work faster',
        )
      },
    },
  ]
}

async function hasSchema(database: Database): Promise<boolean> {
  const { state } = await readSchema(database.pool)
  return state !== 'empty' && state !== 'unreleased'
}
