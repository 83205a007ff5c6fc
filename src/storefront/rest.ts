import { asObject, isJsonObject } from '../lib/text/json.js'
import { readStatus } from './answer.js'
import { type Connection, makeCall } from './connection.js'
import { readOrder } from './order.js'
import type { FindOrderOutcome } from './outcome.js'

/** Finds an order with REST. Throws connection errors. */
export async function findByRest(connection: Connection, orderId: string): Promise<FindOrderOutcome> {
  const answer = await makeCall(connection, {
    method: 'GET',
    path: `/orders/${orderId}.json?fields=id,name,order_number`,
  })
  if (answer.status === 404) return { outcome: 'not_found' }
  return readStatus(answer) ?? readResult(asObject(answer.body).order)
}

function readResult(order: unknown): FindOrderOutcome {
  if (isJsonObject(order)) return readOrder(order.order_number, order.name)
  return { outcome: 'unavailable', text: 'the answer of the REST API has no order' }
}
