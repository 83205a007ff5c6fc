import type { JsonObject } from '../../src/lib/text/json.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { type Caller, checkManagement } from './access.js'
import { verifyAddress } from './verification.js'
import type { NumberState, SimulatedAccount, World } from './world.js'

/** What a handler gets: the world, the caller, the path's id, the query and the body. */
export interface AccountCall {
  context: Context
  world: World
  caller: Caller
  method: string
  id: string
  query: Partial<Record<string, string | string[]>>
  body: JsonObject
}

/** Verifies an address as it is set; the refusal if that fails. */
export async function refuseAddress(
  { settings }: Context,
  url: unknown,
  verifyToken: unknown,
): Promise<Refusal | null> {
  if (typeof url !== 'string' || url.length > 200) return refusals.invalidParameter('The callback URL is not valid.')
  if (typeof verifyToken !== 'string') return refusals.invalidParameter('The parameter verify_token is required.')
  const why = await verifyAddress(url, verifyToken, settings.verify_ms)
  return why === null ? null : refusals.notVerified(why)
}

/** The account that a call names, if its caller may manage it. */
export function openAccount(
  world: World,
  caller: Caller,
  at: { method: string; id: string },
): SimulatedAccount | Refusal {
  const account = world.accounts.get(at.id)
  const refused = checkManagement(caller, at.id, at)
  return refused ?? account ?? refusals.unknownObject(at.method, at.id)
}

/** The number that a call names, if its caller may manage it. */
export function openNumber(world: World, caller: Caller, at: { method: string; id: string }): NumberState | Refusal {
  const number = world.numbers.get(at.id)
  if (!number) return refusals.unknownObject(at.method, at.id)
  return checkManagement(caller, number.account_id, at) ?? number
}
