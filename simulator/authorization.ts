import type { Context } from './context.js'
import { type Refusal, refusals } from './errors/refusals.js'
import type { BusinessNumber } from './numbers/business-numbers.js'

/** Refuses a send without the number's token, or by a phone that is not linked. */
export function checkSender(
  { numbers, phones }: Context,
  phoneNumberId: string,
  authorization: string | undefined,
): Refusal | null {
  const unauthorized = checkToken(authorization, [numbers.get(phoneNumberId)])
  if (unauthorized) return unauthorized
  const state = phones.get(phoneNumberId)?.state ?? 'open'
  return state === 'open' ? null : refusals.notLinked(state)
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
