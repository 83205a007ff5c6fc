import { createHmac } from 'node:crypto'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { isRegistered, type SimulatedApp, type SimulatedToken, type World } from './world.js'

/** Who makes a call: a token's user, or an app by its own token. */
export type Caller = { kind: 'token'; token: SimulatedToken; app: SimulatedApp } | { kind: 'app'; app: SimulatedApp }

const messaging = 'whatsapp_business_messaging'
const management = 'whatsapp_business_management'

/**
 * The refusal of a call whose proof is wrong, or missing while the app requires it. The proof is the HMAC-SHA256 of the
 * token with the secret of its app. Null also for a token that nobody has, or that has ended: it is refused for that.
 */
export function checkProof(
  { world, numbers }: Context,
  authorization: string | undefined,
  proof: unknown,
): Refusal | null {
  const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return null
  const caller = findCaller(world, token)
  if (caller?.kind === 'app' || (caller && isExpired(caller.token))) return null
  if (proof === undefined) return caller?.app.requires_proof ? refusals.missingProof() : null
  const registered = Array.from(numbers.values()).filter(({ access_token }) => access_token === token)
  const secrets = caller ? [caller.app.secret] : registered.map(({ app_secret }) => app_secret)
  const fits = secrets.some((secret) => proof === createHmac('sha256', secret).update(token).digest('hex'))
  return fits || secrets.length === 0 ? null : refusals.wrongProof()
}

/** The caller of a request, or the upstream's refusal of its token. */
export function readCaller(world: World, authorization: string | undefined): Caller | Refusal {
  if (authorization === undefined) return refusals.noToken()
  const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1]
  if (token === undefined) return refusals.emptyToken()
  const caller = findCaller(world, token)
  if (caller === null) return refusals.unknownToken()
  const isOver = caller.kind === 'token' && isExpired(caller.token)
  return isOver ? refusals.expiredToken(caller.token.expires_at) : caller
}

/** Whose token it is, valid or expired; null if nobody's. */
export function findCaller(world: World, token: string): Caller | null {
  const known = world.tokens.get(token)
  if (known) {
    const app = world.apps.get(known.app_id)
    return app ? { kind: 'token', token: known, app } : null
  }
  const [id = '', secret] = token.split('|')
  const app = world.apps.get(id)
  return app && app.secret === secret ? { kind: 'app', app } : null
}

export function isExpired({ expires_at }: SimulatedToken): boolean {
  return expires_at !== 0 && expires_at * 1_000 <= Date.now()
}

/** Refuses a call that reads or changes an account or one of its numbers; `id` is what the path names. */
export function checkManagement(
  caller: Caller,
  accountId: string,
  { method, id }: { method: string; id: string },
): Refusal | null {
  if (caller.kind === 'app' || !caller.token.accounts.includes(accountId)) return refusals.unknownObject(method, id)
  return caller.token.scopes.includes(management) ? null : refusals.noPermission(200)
}

/** Refuses a send of a number of the world, and an upload for one; null also for a number outside of it. */
export function checkMessaging(
  { world }: Context,
  phoneNumberId: string,
  authorization: string | undefined,
): Refusal | null {
  const number = world.numbers.get(phoneNumberId)
  const account = world.accountOf(phoneNumberId)
  if (!number || !account) return null
  const caller = readCaller(world, authorization)
  if ('body' in caller) return caller
  if (caller.kind === 'app' || !caller.token.accounts.includes(account.id)) {
    return refusals.unknownObject('post', phoneNumberId)
  }
  if (!caller.token.scopes.includes(messaging)) return refusals.noPermission(10)
  if (!isRegistered(number)) return refusals.notRegistered()
  return account.locked ? refusals.locked() : null
}

/** Refuses a message that the account or the number may not send: `to` are the digits; null without a number. */
export function checkMessage(
  { world, numbers }: Context,
  phoneNumberId: string,
  { to, template }: { to: string | null; template: unknown },
): Refusal | null {
  const number = world.numbers.get(phoneNumberId)
  if (!number) return null
  const isTest = number.account_mode === 'SANDBOX'
  if (isTest && (to === null || !number.recipients.includes(to))) return refusals.notAllowedRecipient()
  // WhatsApp's own numbers, which it gives to businesses, begin so.
  const isGiven = /^\+?1 ?555/.test(numbers.get(phoneNumberId)?.display_phone_number ?? '')
  if (!isTest && isGiven && number.name_status !== 'APPROVED') return refusals.nameNotApproved()
  if (template === undefined) return null
  if (!isTest && template === 'hello_world') return refusals.onlyTestNumbers()
  return isTest || world.accountOf(phoneNumberId)?.has_payment ? null : refusals.noPayment()
}
