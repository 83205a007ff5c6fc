import type { Context } from '../../../context.js'
import { equalInConstantTime, hmacInSteps } from '../../../lib/crypto/signature.js'
import type { UpstreamClaim } from '../../../storage/organizations/organizations.js'

/** The owner of an id that a callback names (null if there is none), and how many changes name it. */
export interface NamedClaim {
  claim: UpstreamClaim | null
  changes: number
}

/** Maximum number of app secrets that are tried. One takes 3 ms for a body of 4 MB. */
const MAX_SECRETS = 20
/** Used if no app secret is known, so that an unknown id takes as long to answer as a known one. */
const DUMMY_SECRET = 'dummy'

/**
 * Finds the app secret with which a body is signed among those of the owners of its ids; null if none fits. The secret
 * with the most changes is tried first. `signature`: 64 lower-case hexadecimal digits.
 */
export async function findAppSecret(
  ctx: Pick<Context, 'secrets'>,
  named: readonly NamedClaim[],
  body: Buffer,
  signature: string,
): Promise<string | null> {
  const changesOfSecret = new Map<string, number>()
  for (const { claim, changes } of named) {
    const appSecret = claim && openAppSecret(ctx, claim)
    if (appSecret !== null) changesOfSecret.set(appSecret, (changesOfSecret.get(appSecret) ?? 0) + changes)
  }
  const likeliestFirst = [...changesOfSecret].sort(([, one], [, other]) => other - one).map(([appSecret]) => appSecret)
  if (likeliestFirst.length === 0) await hmacInSteps(DUMMY_SECRET, body)
  for (const appSecret of likeliestFirst.slice(0, MAX_SECRETS))
    if (equalInConstantTime(signature, await hmacInSteps(appSecret, body))) return appSecret
  return null
}

/** The app secret with which the callbacks of a channel are signed, or null. */
export function openAppSecret(
  { secrets }: Pick<Context, 'secrets'>,
  { organizationId, instanceId, appSecret }: UpstreamClaim,
): string | null {
  const owner = instanceId === null ? 'upstream' : 'instance'
  return appSecret && secrets.open(appSecret, `${organizationId}:${owner}.app_secret`)
}
