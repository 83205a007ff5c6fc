import type { Context } from '../../../context.js'
import { equalInConstantTime, hmacSha256Hex } from '../../../lib/crypto/signature.js'
import type { UpstreamClaim } from '../../../storage/organizations/organizations.js'

/** Whose an id is that a callback names, null where nobody claims it, and by how many changes it is named. */
export interface NamedClaim {
  claim: UpstreamClaim | null
  changes: number
}

/** With so many app secrets a body is tried: each costs 3 ms where it has 4 MB. */
const MAX_SECRETS = 20
/** In place of an app secret where there is none, so that the answer to an unknown id takes as long as to a known one. */
const NO_SECRET = 'nobody'

/**
 * The app secret with which a body is signed, of those that claim an id in it, or null. The one that answers for most changes is
 * tried first. `signature`: 64 lower-case hexadecimal digits.
 */
export function findAppSecret(
  ctx: Pick<Context, 'secrets'>,
  named: readonly NamedClaim[],
  body: Buffer,
  signature: string,
): string | null {
  const weights = new Map<string, number>()
  for (const { claim, changes } of named) {
    const appSecret = claim && openAppSecret(ctx, claim)
    if (appSecret !== null) weights.set(appSecret, (weights.get(appSecret) ?? 0) + changes)
  }
  const heaviestFirst = [...weights].sort(([, one], [, other]) => other - one).map(([appSecret]) => appSecret)
  const signs = (appSecret: string) => equalInConstantTime(signature, hmacSha256Hex(appSecret, body))
  if (heaviestFirst.length === 0) signs(NO_SECRET)
  return heaviestFirst.slice(0, MAX_SECRETS).find(signs) ?? null
}

/** What the callbacks of a line are signed with, or null. */
export function openAppSecret(
  { secrets }: Pick<Context, 'secrets'>,
  { organizationId, instanceId, appSecret }: UpstreamClaim,
): string | null {
  const owner = instanceId === null ? 'upstream' : 'instance'
  return appSecret && secrets.open(appSecret, `${organizationId}:${owner}.app_secret`)
}
