import type { Context } from '../../../context.js'
import { createLruCache } from '../../../lib/async/lru-cache.js'
import type { NamedClaim } from './signature.js'

/** Notes a body whose signature fits none of the owners of its ids, by id. */
export type NoteRefusal = (claims: ReadonlyMap<string, NamedClaim>) => void

const TOLD_AGAIN_MS = 60_000
const MAX_REMEMBERED = 10_000

/**
 * Logs refused callbacks of known numbers and accounts, one line a minute for each of them, and counts all. With each line
 * `isTold` is called with the organization.
 */
export function noteRefusals(
  log: Context['log'],
  count: (isKnown: boolean) => void,
  isTold: (organizationId: string) => void,
  now: () => number = () => performance.now(),
): NoteRefusal {
  const noted = createLruCache<{ toldAt: number; refused: number }>(MAX_REMEMBERED)
  return (claims) => {
    const known = [...claims].filter(([, { claim }]) => claim !== null)
    count(known.length > 0)
    for (const [id, { claim }] of known) {
      const before = noted.get(id)
      const refused = (before?.refused ?? 0) + 1
      const isDue = before === undefined || now() - before.toldAt >= TOLD_AGAIN_MS
      noted.set(id, isDue ? { toldAt: now(), refused: 0 } : { toldAt: before.toldAt, refused })
      if (!isDue) continue
      const { organizationId, instanceId } = claim as NonNullable<typeof claim>
      log.warn(
        { organizationId, instanceId, id, refused },
        'callbacks of a number are refused: their signature does not match its app secret; if the app has a new one, give it to parley org connect',
      )
      isTold(organizationId)
    }
  }
}
