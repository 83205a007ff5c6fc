import type { Context } from '../../context.js'
import { sha256 } from '../../lib/crypto/signature.js'
import { Problem } from '../../model/problem.js'
import { countFailure, forgetFailures, type LockRule } from '../../storage/identity/sign-in-failures.js'

const MINUTE_MS = 60_000
const RULE: LockRule = { free: 5, firstMs: MINUTE_MS, longestMs: 60 * MINUTE_MS }

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
 * Tries a password for a name, known or not. After five wrong ones the name is locked for a minute, then twice as long
 * after each further one, up to an hour. Concurrent attempts count as if they came one after the other; attempts
 * refused for lack of capacity do not count. Returns the result of `attempt`; null means wrong. Throws
 * too_many_requests, service_unavailable.
 */
export function tryPassword<Result>(
  ctx: Context,
  name: SignInName,
  attempt: () => Promise<Result | null>,
): Promise<Result | null> {
  return ctx.passwords.queue(() => tryCounted(ctx, name, attempt))
}

async function tryCounted<Result>(
  ctx: Context,
  { slug, email }: SignInName,
  attempt: () => Promise<Result | null>,
): Promise<Result | null> {
  const now = ctx.clock()
  const nameHash = sha256(JSON.stringify([slug, email]))
  const { lockedUntil } = await countFailure(ctx.database, nameHash, now, RULE)
  if (lockedUntil !== null) {
    const seconds = Math.ceil((lockedUntil.getTime() - now.getTime()) / 1000)
    throw new Problem('too_many_requests', `Too many wrong passwords: try again in ${seconds} s`, {
      retry_after: seconds,
    })
  }
  const result = await attempt()
  if (result !== null) await forgetFailures(ctx.database, nameHash)
  return result
}
