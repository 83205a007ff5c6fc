import type { Context } from '../../../context.js'
import { equalInConstantTime, hmacSha256Hex } from '../../../lib/crypto/signature.js'
import { noteSampleOf } from '../../../storage/numbers/number-states.js'
import { listNewestClaims } from '../../../storage/organizations/organizations.js'
import type { IdentifiedChange } from './routing.js'
import { openAppSecret } from './signature.js'

/** The id of the entry in a sample; no business account has it. */
const SAMPLE_ID = '0'
/** A sample has less than a kilobyte. */
const MAX_BYTES = 8 * 1_024
/** Who tests has just connected a number, or given the verify token. Anybody can post such a body, so few are tried. */
const MAX_TRIED = 20

/** Whether a body can be a sample, as the App Dashboard sends it when somebody tests the callback address. */
export function isSample(body: Buffer, changes: readonly IdentifiedChange[]): boolean {
  return body.length <= MAX_BYTES && changes.length > 0 && changes.every(({ entry }) => entry.id === SAMPLE_ID)
}

/**
 * Notes that a sample came for the organizations whose app has signed it, among those that were connected last; false if
 * it is the app of none.
 */
export async function noteSample(
  ctx: Pick<Context, 'database' | 'secrets' | 'clock'>,
  body: Buffer,
  signature: string,
): Promise<boolean> {
  const newest = await listNewestClaims(ctx.database, MAX_TRIED)
  const owners = newest.filter((claim) => {
    const appSecret = openAppSecret(ctx, claim)
    return appSecret !== null && equalInConstantTime(signature, hmacSha256Hex(appSecret, body))
  })
  for (const { organizationId } of owners) await noteSampleOf(ctx.database, organizationId, ctx.clock())
  return owners.length > 0
}
