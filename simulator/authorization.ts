import { checkManagement, checkMessaging, readCaller } from './accounts/access.js'
import { viewOf } from './accounts/view.js'
import type { Context } from './context.js'
import { type Refusal, refusals } from './errors/refusals.js'
import { type BusinessNumber, numbersOf } from './numbers/business-numbers.js'

/**
 * Refuses a send without the number's token, or by a phone that is not linked; of a number of the world, also one
 * without the permission, and one of a number that is not registered.
 */
export function checkSender(
  context: Context,
  phoneNumberId: string,
  authorization: string | undefined,
): Refusal | null {
  const { numbers, phones, world, settings } = context
  if (world.numbers.has(phoneNumberId)) return checkMessaging(context, phoneNumberId, authorization)
  if (settings.strict && !phones.has(phoneNumberId)) return refusals.unknownObject('post', phoneNumberId)
  const unauthorized = checkToken(authorization, [numbers.get(phoneNumberId)])
  if (unauthorized) return unauthorized
  const state = phones.get(phoneNumberId)?.state ?? 'open'
  return state === 'open' ? null : refusals.notLinked(state)
}

/**
 * Refuses a call that reads or changes an account: in the world of accounts the token must open it, otherwise it must
 * be that of one of its numbers. `named` is what the path names.
 */
export function checkAccount(
  { numbers, world }: Context,
  accountId: string,
  authorization: string | undefined,
  named: { method: string; id: string },
): Refusal | null {
  if (authorization === undefined) return refusals.noToken()
  const ofAccount = numbersOf(numbers, accountId)
  if (ofAccount.length === 0) return refusals.unknownObject(named.method, named.id)
  if (!world.accounts.has(accountId)) return checkToken(authorization, ofAccount)
  const caller = readCaller(world, authorization)
  return 'body' in caller ? caller : checkManagement(caller, accountId, named)
}

/** Refuses a call that takes any valid token. */
export function checkAnyToken(context: Context, authorization: string | undefined): Refusal | null {
  const caller = readCaller(viewOf(context), authorization)
  return 'body' in caller ? caller : null
}

/**
 * Refuses a call without a valid bearer token; null if it is valid. A number that is not registered, or has no token,
 * accepts any token.
 */
export function checkToken(
  authorization: string | undefined,
  numbers: Array<BusinessNumber | undefined>,
): Refusal | null {
  if (authorization === undefined) return refusals.noToken()
  const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1]
  if (token === undefined) return refusals.emptyToken()
  const fits = numbers.some((number) => number?.access_token === undefined || number.access_token === token)
  return fits ? null : refusals.wrongToken()
}
