import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { invalidField, type Problem } from '../control/problems.js'

/** An order of the storefront's REST API and webhooks. Money is text with decimals; times are ISO 8601. */
export interface ShopOrder {
  id: number
  admin_graphql_api_id: string
  /** The displayed order number, with the shop's prefix and suffix. */
  name: string
  /** The number in the name. */
  order_number: number
  /** The position of the order among all orders of the shop, from 1. */
  number: number
  total_price: string
  current_total_price: string
  currency: string
  /** Lower case, such as `paid`. */
  financial_status: string
  /** The first page of the buyer's visit: a URL, a path with its query, or null. */
  landing_site: string | null
  referring_site: string | null
  source_name: string
  test: boolean
  created_at: string
  processed_at: string
  updated_at: string
  cancelled_at: string | null
  closed_at: string | null
  /** The buyer's known data. The REST API also returns all other given fields. */
  email?: string | null
  contact_email?: string | null
  phone?: string | null
  customer?: { email?: string | null; phone?: string | null } | null
  billing_address?: { phone?: string | null } | null
  /** The buyer's visits in the GraphQL API, if they differ from `landing_site`. The REST API does not show them. */
  journey?: Journey
}

export interface Journey {
  /** False until the shop has computed it. */
  ready?: boolean
  /** The landing pages of the first and last visit. */
  first_visit?: string | null
  last_visit?: string | null
}

/** The fields that identify an order of a shop. */
export type OrderIdentity = Pick<ShopOrder, 'id' | 'order_number' | 'number'>

/**
 * Reads an order from a control body. Nothing is required: the identity defaults to `next`, `name` to `#` and the order
 * number, and the rest to a small order that was just paid. Other fields of the REST API are kept unchanged.
 * `updated_at` is the current time for an existing order (`isChange`), and the time of creation for a new one.
 */
export function readShopOrder(body: JsonObject, next: OrderIdentity, isChange: boolean): ShopOrder | Problem {
  const complaint = complaintAbout(body)
  if (complaint) return invalidField(complaint)
  const given = body as Partial<ShopOrder>
  const { id = next.id, order_number = next.order_number, total_price = '100.00' } = given
  const now = new Date().toISOString()
  const { created_at = now } = given
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
    ...given,
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
  [['journey'], isJourney, 'an object with ready, first_visit and last_visit, each optional'],
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
