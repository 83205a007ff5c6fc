import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { invalidField, type Problem } from '../control/problems.js'

/**
 * An order as the storefront's REST API and its webhooks hold it; money is text with decimals, moments are ISO 8601.
 */
export interface ShopOrder {
  id: number
  admin_graphql_api_id: string
  /** The order number as people see it, with the shop's prefix and suffix. */
  name: string
  /** The integer in the name. */
  order_number: number
  /** The how-manyth order of the shop. */
  number: number
  total_price: string
  current_total_price: string
  currency: string
  /** Lower case, such as `paid`. */
  financial_status: string
  /** Where the buyer's visit began: a URL, a path with its query, or null. */
  landing_site: string | null
  referring_site: string | null
  source_name: string
  test: boolean
  created_at: string
  processed_at: string
  updated_at: string
  cancelled_at: string | null
  closed_at: string | null
  /** Who bought, as far as it is told; the REST API keeps all other fields. */
  email?: string | null
  contact_email?: string | null
  phone?: string | null
  customer?: { email?: string | null; phone?: string | null } | null
  billing_address?: { phone?: string | null } | null
  /** The buyer's visits in the GraphQL API, if they differ from `landing_site`. The REST API does not show them. */
  journey?: Journey
}

export interface Journey {
  /** False while the shop has not worked it out. */
  ready?: boolean
  /** The landing pages. */
  first_visit?: string | null
  last_visit?: string | null
}

/** What tells one order of a shop from the others. */
export type OrderIdentity = Pick<ShopOrder, 'id' | 'order_number' | 'number'>

/**
 * Reads a control body into an order. Nothing is required: an identity that is not told is `next`, `name` is the order
 * number with `#`, and the rest is that of a small order that was paid just now. Other fields of the REST API are kept
 * as they are. An order that is there already (`isChange`) was updated just now, a new one when it was created.
 */
export function readShopOrder(body: JsonObject, next: OrderIdentity, isChange: boolean): ShopOrder | Problem {
  const complaint = complaintAbout(body)
  if (complaint) return invalidField(complaint)
  const told = body as Partial<ShopOrder>
  const { id = next.id, order_number = next.order_number, total_price = '100.00' } = told
  const now = new Date().toISOString()
  const { created_at = now } = told
  return {
    number: next.number,
    name: `#${order_number}`,
    current_total_price: total_price,
    currency: 'BRL',
    financial_status: 'paid',
    landing_site: null,
    referring_site: null,
    source_name: 'web',
    test: false,
    processed_at: created_at,
    updated_at: isChange ? now : created_at,
    cancelled_at: null,
    closed_at: null,
    ...told,
    ...{ id, order_number, total_price, created_at, admin_graphql_api_id: `gid://shopify/Order/${id}` },
  }
}

/** An order as the REST API and webhooks show it. */
export function restOrder({ journey: _journey, ...order }: ShopOrder): Omit<ShopOrder, 'journey'> {
  return order
}

type Fits = (value: unknown) => boolean

const isCount: Fits = (value) => Number.isSafeInteger(value) && Number(value) > 0
const isMoney: Fits = (value) => typeof value === 'string' && /^\d{1,12}(\.\d{1,3})?$/.test(value)
const isFilled: Fits = (value) => typeof value === 'string' && value !== ''
const isTextOrNull: Fits = (value) => value === null || typeof value === 'string'
const isMoment: Fits = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value))

const fields: Array<[names: string[], fits: Fits, expected: string]> = [
  [['id', 'order_number', 'number'], isCount, 'a whole number from 1'],
  [['total_price', 'current_total_price'], isMoney, 'a string with an amount, such as "598.94"'],
  [['name', 'currency', 'financial_status', 'source_name'], isFilled, 'a string that is not empty'],
  [['landing_site', 'referring_site', 'email', 'contact_email', 'phone'], isTextOrNull, 'a string or null'],
  [['test'], (value) => typeof value === 'boolean', 'true or false'],
  [['created_at', 'processed_at', 'updated_at'], isMoment, 'a moment in ISO 8601'],
  [['cancelled_at', 'closed_at'], (value) => value === null || isMoment(value), 'a moment in ISO 8601 or null'],
  [['customer', 'billing_address'], (value) => value === null || isJsonObject(value), 'an object or null'],
  [['journey'], isJourney, 'an object that holds ready, first_visit and last_visit, each where it is told'],
]

function isJourney(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  return Object.entries(value).every(([name, part]) => {
    if (name === 'ready') return typeof part === 'boolean'
    return (name === 'first_visit' || name === 'last_visit') && isTextOrNull(part)
  })
}

function complaintAbout(body: JsonObject): string | null {
  for (const [names, fits, expected] of fields) {
    const wrong = names.find((name) => body[name] !== undefined && !fits(body[name]))
    if (wrong !== undefined) return `${wrong} must be ${expected}`
  }
  return null
}
