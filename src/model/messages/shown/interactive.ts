import { asObject, isDeeperThan, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { presentOffer } from './offers.js'
import { presentOther } from './other.js'
import { readBoolean, readFields, readSeconds, readText } from './read.js'
import type { ContentOf, ShownContent } from './schemas.js'
import type { StoredContent } from './stored-content.js'

/** A choice of the contact, or what was offered to it. */
export function presentInteractive(message: StoredContent): ShownContent {
  const content = asObject(message.content)
  const shown =
    presentReply(content, message.text) ?? (isReceived(message) ? null : presentOffer(content, message.text))
  if (shown) return shown
  if (Object.keys(content).length === 0) return { type: 'unsupported', kind: 'interactive' }
  return presentOther(readText(content.type) ?? 'interactive', content)
}

function isReceived({ sender_type }: StoredContent): boolean {
  return sender_type === 'user-chat'
}

/** The object of a reply, which may be absent from a message that was deleted. Null: it is another kind. */
function objectOf(content: JsonObject, kind: string): JsonObject | null {
  if (isJsonObject(content[kind])) return content[kind]
  return content.type === kind ? {} : null
}

function presentReply(content: JsonObject, text: string): ShownContent | null {
  const button = objectOf(content, 'button_reply')
  if (button) {
    return { type: 'button_reply', id: readText(button.id), title: readText(button.title) ?? readText(text) }
  }
  const row = objectOf(content, 'list_reply')
  if (row) {
    const description = readText(row.description)
    return { type: 'list_reply', id: readText(row.id), title: readText(row.title) ?? readText(text), description }
  }
  const form = objectOf(content, 'nfm_reply')
  if (form) return isAddress(content, form) ? presentAddress(form) : presentFlow(form)
  const permission = objectOf(content, 'call_permission_reply')
  if (permission) return presentPermission(permission)
  const { product } = content
  if (!isJsonObject(product)) return null
  const productId = readText(product.product_retailer_id) ?? readText(product.product_id)
  return { type: 'product', catalog_id: readText(product.catalog_id), product_id: productId }
}

/** Some callbacks name the form in `action`, and no type. */
function isAddress({ action }: JsonObject, { name }: JsonObject): boolean {
  return name === 'address_message' || action === 'address_message'
}

function presentFlow(form: JsonObject): ContentOf<'flow'> {
  const { name, body, response_json: json } = form
  const { value: flow, ...cut } = parse(json)
  const unread = flow === null ? readText(json) : null
  return {
    type: 'flow',
    name: readText(name),
    body: readText(body),
    flow,
    ...(unread !== null && { flow_text: unread }),
    token: readText(asObject(flow).flow_token),
    ...cut,
  }
}

function presentAddress({ body, response_json: json }: JsonObject): ContentOf<'address'> {
  const { value, ...cut } = parse(json)
  const { values, saved_address_id: savedId } = asObject(value)
  const savedAddressId = readText(savedId)
  return { type: 'address', body: readText(body), values: readFields(values), saved_address_id: savedAddressId, ...cut }
}

function presentPermission(reply: JsonObject): ContentOf<'call_permission'> {
  return {
    type: 'call_permission',
    response: readText(reply.response),
    is_permanent: readBoolean(reply.is_permanent),
    expires_at: readSeconds(reply.expiration_timestamp),
    source: readText(reply.response_source),
  }
}

const MAX_RESPONSE_LENGTH = 65_536
const MAX_RESPONSE_DEPTH = 32

interface Parsed {
  /** Null if it is no JSON. */
  value: unknown
  /** It is too long, or nested too deep to be shown. */
  truncated?: true
}

const TRUNCATED: Parsed = { value: null, truncated: true }

/** The JSON in a text, or what is JSON already. */
function parse(json: unknown): Parsed {
  if (typeof json !== 'string') {
    return isDeeperThan(json, MAX_RESPONSE_DEPTH) ? TRUNCATED : parse(JSON.stringify(json ?? null))
  }
  if (json.length > MAX_RESPONSE_LENGTH) return TRUNCATED
  try {
    const value: unknown = JSON.parse(json)
    return isDeeperThan(value, MAX_RESPONSE_DEPTH) ? TRUNCATED : { value }
  } catch {
    return { value: null }
  }
}
