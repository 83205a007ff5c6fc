import { type AddressGuard, PrivateAddressError } from '../lib/http/address-guard.js'
import type { HttpClient } from '../lib/http/client.js'
import { toStorable } from '../lib/text/text.js'
import { type Connection, locateApi, openClient } from './connection.js'
import { findByGraphql } from './graphql.js'
import { listOrders } from './orders.js'
import type { CheckOrdersOutcome, Failure, FindOrderOutcome, ListOrdersOutcome, OrderCursor } from './outcome.js'
import { findByRest } from './rest.js'

export { readOrderId } from './order-id.js'
export type {
  CheckOrdersOutcome,
  Failure,
  FindOrderOutcome,
  ListOrdersOutcome,
  OrderCursor,
  OrderPage,
  OrderReference,
} from './outcome.js'
export { readRestOrder, type ShopOrder } from './shop-order.js'

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
  /**
   * Asks for a page of the orders that were changed at `since` or later, the earliest change first: at the beginning GraphQL, and
   * REST where it answers 404; from a cursor the API that it came from. Takes no longer than 30 s. Never throws.
   */
  listOrders(shop: Shop, since: Date, cursor: OrderCursor | null): Promise<ListOrdersOutcome>
  /** Asks whether the access token reads orders, by a page of those that were changed at `since` or later; within the time of findOrder. Never throws. */
  checkOrders(shop: Shop, since: Date): Promise<CheckOrdersOutcome>
  /** Hangs up on whatever is still being asked. */
  close(): Promise<void>
}

/** The 10 s of the contract, less what the rest of a request takes. */
const LOOK_UP_TIMEOUT_MS = 9_500
const LIST_TIMEOUT_MS = 30_000
const MAX_TEXT_LENGTH = 300
/** What a header can carry. */
const TOKEN = /^[\x21-\x7e]+$/

/** A client of all shops; its connections pass the guard. */
export function createStorefrontClient(guard: AddressGuard, timeoutMs = LOOK_UP_TIMEOUT_MS): StorefrontClient {
  const client = openClient(guard)
  return {
    findOrder: (shop, orderId) =>
      ask(client, shop, timeoutMs, async (connection) => {
        return (await findByGraphql(connection, orderId)) ?? (await findByRest(connection, orderId))
      }),
    listOrders: (shop, since, cursor) =>
      ask(client, shop, LIST_TIMEOUT_MS, (connection) => listOrders(connection, since, cursor)),
    checkOrders: async (shop, since) => {
      const listed = await ask(client, shop, timeoutMs, (connection) => listOrders(connection, since, null))
      return listed.outcome === 'listed' ? { outcome: 'readable' } : listed
    },
    close: async () => client.close(),
  }
}

/** Asks a shop, for so many milliseconds at most. What goes wrong is an outcome. */
async function ask<Outcome extends object>(
  client: HttpClient,
  { url, accessToken }: Shop,
  timeoutMs: number,
  question: (connection: Connection) => Promise<Outcome>,
): Promise<Outcome | Failure> {
  if (!TOKEN.test(accessToken)) {
    return { outcome: 'credentials_rejected', text: 'the access token is empty or has characters that none has' }
  }
  const deadline = AbortSignal.timeout(timeoutMs)
  const outcome = await tryToAsk(deadline, timeoutMs, () =>
    question({ client, ...locateApi(url), accessToken, deadline }),
  )
  return 'text' in outcome ? { ...outcome, text: tellable(String(outcome.text), accessToken) } : outcome
}

async function tryToAsk<Outcome>(
  deadline: AbortSignal,
  timeoutMs: number,
  question: () => Promise<Outcome>,
): Promise<Outcome | Failure> {
  try {
    return await question()
  } catch (error) {
    const text = deadline.aborted ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error as Error)
    return { outcome: 'unavailable', text }
  }
}

/** A shop may repeat the token where it says what is wrong with it, at any length. */
function tellable(text: string, accessToken: string): string {
  return toStorable(text.replaceAll(accessToken, '…').slice(0, MAX_TEXT_LENGTH))
}

function reasonOf(error: Error): string {
  // Where a name leads within the network is nobody's business.
  if (error.cause instanceof PrivateAddressError)
    return "the shop's address is private: only public ones are connected to"
  return error.message
}
