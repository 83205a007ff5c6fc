import type { Database } from '../../database/pool.js'
import { listSuspendedOrganizations, type SuspendedOrganization } from '../../storage/organizations/suspension.js'
import { type Check, type Finding, ok, warning } from './check.js'

const MAX_SHOWN = 20

/** The check of whether organizations are suspended, which no alert counts: a finding for each. */
export function suspensionChecks(database: Database): Check[] {
  return [
    {
      name: 'suspensions',
      remedy: 'run parley migrate, and see the log',
      run: async () => {
        const suspended = await listSuspendedOrganizations(database)
        if (suspended.length === 0) return ok('no organization is suspended')
        const findings = suspended.slice(0, MAX_SHOWN).map(describe)
        const more = suspended.length - findings.length
        return more > 0 ? [...findings, warning(`${more} more are suspended`, 'parley org list shows them')] : findings
      },
    },
  ]
}

/** One whose links lead to another cell works there, and would work twice if it were resumed. */
function describe({ slug, suspended_at, movedTo }: SuspendedOrganization): Finding {
  const found = `${slug} has been suspended since ${suspended_at.toISOString()}`
  const remove = `parley org delete ${slug} --yes`
  const page = 'docs/scaling.md#move-an-organization'
  return movedTo === null
    ? warning(
        `${found}; its requests and callbacks are refused, and the upstream repeats a callback for 7 days only`,
        `parley org resume ${slug}; if it has moved to another cell, do not resume it here, but delete it: ${remove} (${page})`,
      )
    : warning(
        `${found}; its links are redirected to ${movedTo}`,
        `it has moved: when nothing is missing there, delete it here, which leaves the redirection: ${remove} (${page})`,
      )
}
