import { MAX_RETRY_AFTER_MS } from '../lib/http/retry-after.js'
import { asObject, asObjects, isJsonObject, type JsonObject } from '../lib/text/json.js'
import { readReason, readStatus } from './answer.js'
import { type Connection, makeCall } from './connection.js'
import { readOrder } from './order.js'
import { DEFAULT_WAIT_MS, type Failure, type FindOrderOutcome } from './outcome.js'

const QUERY = 'query FindOrder($id: ID!) { order(id: $id) { name number } }'
const MIN_WAIT_MS = 1_000

/** Finds an order with GraphQL; null if the shop has no such API. Throws connection errors. */
export async function findByGraphql(connection: Connection, orderId: string): Promise<FindOrderOutcome | null> {
  const body = JSON.stringify({ query: QUERY, variables: { id: `gid://shopify/Order/${orderId}` } })
  const answer = await makeCall(connection, { method: 'POST', path: '/graphql.json', body })
  if (answer.status === 404) return null
  return readStatus(answer) ?? readResult(asObject(answer.body))
}

/** Errors come with status 200. Next to an order they concern parts of it. */
function readResult(result: JsonObject): FindOrderOutcome {
  const { order } = asObject(result.data)
  if (isJsonObject(order)) return readOrder(order.number, order.name)
  const failure = readErrors(result)
  if (failure !== null) return failure
  if (order === null) return { outcome: 'not_found' }
  return { outcome: 'unavailable', text: 'the answer of the GraphQL API has neither an order nor an error' }
}

/** The errors of a result without data; null if there are none. */
export function readErrors({ errors, extensions }: JsonObject): Failure | null {
  const codes = asObjects(errors).map((error) => asObject(error.extensions).code)
  const text = readReason(errors)
  if (codes.includes('THROTTLED')) return { outcome: 'limited', retryAfterMs: readWait(extensions) }
  if (codes.includes('ACCESS_DENIED')) return { outcome: 'credentials_rejected', text: text ?? 'ACCESS_DENIED' }
  if (codes.length === 0 && text === null) return null
  return { outcome: 'unavailable', text: text ?? 'the GraphQL API answered with an error that has no text' }
}

/** A query that costs more points than are left waits until they are restored. */
function readWait(extensions: unknown): number {
  const cost = asObject(asObject(extensions).cost)
  const { currentlyAvailable, restoreRate } = asObject(cost.throttleStatus)
  const seconds = (Number(cost.requestedQueryCost) - Number(currentlyAvailable)) / Number(restoreRate)
  if (!Number.isFinite(seconds)) return DEFAULT_WAIT_MS
  return Math.min(Math.max(Math.ceil(seconds * 1_000), MIN_WAIT_MS), MAX_RETRY_AFTER_MS)
}
