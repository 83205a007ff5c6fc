import type { Context, PasswordSource } from '../../context.js'
import { sha256 } from '../../lib/crypto/signature.js'
import { Problem } from '../../model/problem.js'
import { countFailure, findLock, forgetFailures, type LockRule } from '../../storage/identity/sign-in-failures.js'

const MINUTE_MS = 60_000
const LOCKS = { firstMs: MINUTE_MS, longestMs: 60 * MINUTE_MS }
/** For a name, from one source. */
const SOURCE_RULE: LockRule = { free: 5, ...LOCKS }
/** For a name, from all sources but known devices together. */
const NAME_RULE: LockRule = { free: 50, ...LOCKS }

/** The name that a person signs in with, as it is looked up and counted. */
export interface SignInName {
  slug: string
  email: string
}

/** The normalized name, which is the same for every spelling. */
export function readSignInName(organization: string, email: string): SignInName {
  return { slug: organization.trim().toLowerCase(), email: email.trim().toLowerCase() }
}

/**
 * Tries a password for a name, existing or not. After five wrong ones from one source, the name is locked for this
 * source for a minute, then twice as long after each further one, up to an hour. After 50 from unknown sources together
 * it is locked for all of them in the same way. Concurrent attempts count as if they came one after the other; attempts
 * refused for lack of capacity do not count. Returns the result of `attempt`; null means wrong. Throws
 * too_many_requests, service_unavailable.
 */
export function tryPassword<Result>(
  ctx: Context,
  name: SignInName,
  source: PasswordSource,
  attempt: () => Promise<Result | null>,
): Promise<Result | null> {
  return ctx.passwords.queue(source, () => tryCounted(ctx, name, source, attempt))
}

async function tryCounted<Result>(
  ctx: Context,
  { slug, email }: SignInName,
  { id, isKnown }: PasswordSource,
  attempt: () => Promise<Result | null>,
): Promise<Result | null> {
  const now = ctx.clock()
  const ofSource = sha256(JSON.stringify([slug, email, id]))
  const ofName = sha256(JSON.stringify([slug, email]))
  // First, so that an attempt that the other lock refuses is not counted.
  if (!isKnown) refuseUntil(await findLock(ctx.database, ofName, now), now)
  refuseUntil(await countFailure(ctx.database, ofSource, now, SOURCE_RULE), now)
  if (!isKnown) refuseUntil(await countFailure(ctx.database, ofName, now, NAME_RULE), now)
  const result = await attempt()
  if (result !== null) await forgetFailures(ctx.database, isKnown ? [ofSource] : [ofSource, ofName])
  return result
}

function refuseUntil(lockedUntil: Date | null, now: Date): void {
  if (lockedUntil === null) return
  const seconds = Math.ceil((lockedUntil.getTime() - now.getTime()) / 1000)
  throw new Problem('too_many_requests', `Too many wrong passwords: try again in ${seconds} s`, {
    retry_after: seconds,
  })
}
