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

/** A shop and its credential. */
export interface Shop {
  /** The address whose `/admin/api` is the shop's admin API. */
  url: string
  accessToken: string
}

/** The parts of the storefront API that Parley uses. */
export interface StorefrontClient {
  /**
   * Finds an order by its id, in digits; tries GraphQL, then REST if GraphQL answers 404. Takes less than 10 s in all.
   * Never throws.
   */
  findOrder(shop: Shop, orderId: string): Promise<FindOrderOutcome>
  /**
   * Lists a page of the orders changed at `since` or later, earliest change first. The first page comes from GraphQL,
   * or from REST if GraphQL answers 404; a cursor continues with its API. Takes at most 30 s. Never throws.
   */
  listOrders(shop: Shop, since: Date, cursor: OrderCursor | null): Promise<ListOrdersOutcome>
  /** Checks that the access token can read orders, by listing a page, within the time of findOrder. Never throws. */
  checkOrders(shop: Shop, since: Date): Promise<CheckOrdersOutcome>
  /** Aborts all running calls. */
  close(): Promise<void>
}

/** 10 s for the request, minus the time of everything else. */
const LOOK_UP_TIMEOUT_MS = 9_500
const LIST_TIMEOUT_MS = 30_000
const MAX_TEXT_LENGTH = 300
/** Characters that are allowed in a header. */
const TOKEN = /^[\x21-\x7e]+$/

/** Creates the client of all shops; its connections pass the guard. */
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

/** Calls a shop for at most `timeoutMs`; failures are outcomes. */
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

/** A shop may repeat the token in its error text. */
function tellable(text: string, accessToken: string): string {
  return toStorable(text.replaceAll(accessToken, '…').slice(0, MAX_TEXT_LENGTH))
}

function reasonOf(error: Error): string {
  // Private addresses behind a name are not revealed.
  if (error.cause instanceof PrivateAddressError)
    return "the shop's address is private: only public ones are connected to"
  return error.message
}
