import type { Database } from '../../database/pool.js'
import { countPausedScheduled } from '../../storage/scheduled/paused.js'
import { type Check, ok, warning } from './check.js'

const MAX_SHOWN = 20

/** The check of whether scheduled messages wait for somebody: after a restore, or because their time is long past. */
export function scheduledChecks(database: Database): Check[] {
  const remedy =
    'their organizations give them a new time or cancel them, in the console or with /scheduled (docs/backup.md#scheduled-messages-after-a-restore)'
  return [
    {
      name: 'scheduled messages',
      remedy: 'run parley migrate, and see the log',
      run: async () => {
        const paused = await countPausedScheduled(database, new Date())
        if (paused.length === 0) return ok('none is paused')
        const shown = paused.slice(0, MAX_SHOWN).map(({ slug, count }) => `${slug} ${count}`)
        const more = paused.length > MAX_SHOWN ? `, and ${paused.length - MAX_SHOWN} more organizations` : ''
        return warning(`paused ones, which are not sent: ${shown.join(', ')}${more}`, remedy)
      },
    },
  ]
}
