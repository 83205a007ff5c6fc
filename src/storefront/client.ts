import type { Agent } from 'undici'
import { type AddressGuard, PrivateAddressError } from '../lib/address-guard.js'
import { toStorable } from '../lib/text.js'
import { locateApi, openAgent } from './connection.js'
import { findByGraphql } from './graphql.js'
import type { FindOrderOutcome } from './outcome.js'
import { findByRest } from './rest.js'

export { readOrderId } from './order-id.js'
export type { FindOrderOutcome, OrderReference } from './outcome.js'

/** A shop and the credential to ask it. */
export interface Shop {
  /** Where its admin API stands, which is at `/admin/api` below. */
  url: string
  accessToken: string
}

/** The storefront as far as it is used. */
export interface StorefrontClient {
  /**
   * Asks for one order by its id, in digits: GraphQL first, REST where it answers 404. Takes less than 10 s altogether, however
   * slowly the shop answers (contract 4). Never throws.
   */
  findOrder(shop: Shop, orderId: string): Promise<FindOrderOutcome>
  /** Hangs up on whatever is still being asked. */
  close(): Promise<void>
}

/** The 10 s of the contract, less what the rest of a request takes. */
const LOOK_UP_TIMEOUT_MS = 9_500
const MAX_TEXT_LENGTH = 300
/** What a header can carry. */
const TOKEN = /^[\x21-\x7e]+$/

/** A client of all shops; its connections pass the guard. */
export function createStorefrontClient(guard: AddressGuard, timeoutMs = LOOK_UP_TIMEOUT_MS): StorefrontClient {
  const agent = openAgent(guard)
  return {
    findOrder: (shop, orderId) => findOrder(agent, shop, orderId, timeoutMs),
    close: () => agent.destroy(),
  }
}

async function findOrder(agent: Agent, shop: Shop, orderId: string, timeoutMs: number): Promise<FindOrderOutcome> {
  if (!TOKEN.test(shop.accessToken)) {
    return { outcome: 'credentials_rejected', text: 'the access token is empty or has characters that none has' }
  }
  const outcome = await lookUp(agent, shop, orderId, timeoutMs)
  return 'text' in outcome ? { ...outcome, text: tellable(outcome.text, shop.accessToken) } : outcome
}

async function lookUp(
  agent: Agent,
  { url, accessToken }: Shop,
  orderId: string,
  timeoutMs: number,
): Promise<FindOrderOutcome> {
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const connection = { agent, ...locateApi(url), accessToken, deadline }
    return (await findByGraphql(connection, orderId)) ?? (await findByRest(connection, orderId))
  } catch (error) {
    const text = deadline.aborted ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error as NodeJS.ErrnoException)
    return { outcome: 'unavailable', text }
  }
}

/** A shop may repeat the token where it says what is wrong with it, at any length. */
function tellable(text: string, accessToken: string): string {
  return toStorable(text.replaceAll(accessToken, '…').slice(0, MAX_TEXT_LENGTH))
}

/** A failed connection to a name with several addresses has a code and no message. */
function reasonOf(error: NodeJS.ErrnoException): string {
  // Where a name leads within the network is nobody's business.
  if (error instanceof PrivateAddressError) return "the shop's address is private: only public ones are connected to"
  return error.message || error.code || 'the connection failed'
}
