import { asObject, asText, isJsonObject, type JsonObject } from '../lib/text/json.js'
import { toStorable } from '../lib/text/text.js'
import { readOrderId } from './order-id.js'

/** An order as a shop tells it, by whichever API or webhook. */
export interface ShopOrder {
  /** In digits. */
  id: string
  /** With the shop's prefix and suffix: `#1001`. */
  name: string
  /** A decimal number, in the shop's currency. */
  totalPrice: string
  /** ISO 4217. */
  currency: string
  orderedAt: Date
  /** Lower case. */
  financialStatus: string | null
  /** Where the visit began that led to the order: an address or a path with its query. */
  landingPage: string | null
  /** What the shop itself read there; null where it does not say. */
  utm: { source: string | null; campaign: string | null } | null
  /** Whom the order names as its buyer, the surest first; as it is written there. */
  buyer: { phones: string[]; emails: string[] }
  isTest: boolean
  cancelledAt: Date | null
  updatedAt: Date
}

const MAX_NAME_LENGTH = 200
const MAX_STATUS_LENGTH = 64
const MAX_PHONE_LENGTH = 64
const MAX_EMAIL_LENGTH = 320
/** No address is longer; what is cut off would not be looked at. */
const MAX_ADDRESS_LENGTH = 8_192
const MONEY = /^-?\d{1,18}(\.\d{1,9})?$/
const CURRENCY = /^[A-Z]{3}$/
/** That PostgreSQL has the year, and that there is a zone. */
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/

/** What an order has before each of its fields has been looked at. */
type Given = { [Field in Exclude<keyof ShopOrder, 'buyer'>]: unknown } & {
  createdAt: unknown
  phones: unknown[]
  emails: unknown[]
}

/** An order of the REST API or of a webhook; null for what is none, or not whole. */
export function readRestOrder(order: JsonObject): ShopOrder | null {
  const [customer, billing] = [asObject(order.customer), asObject(order.billing_address)]
  return readOrder({
    id: order.id,
    name: order.name,
    totalPrice: order.total_price,
    currency: order.currency,
    orderedAt: order.processed_at,
    createdAt: order.created_at,
    financialStatus: order.financial_status,
    landingPage: order.landing_site,
    utm: null,
    phones: [order.phone, customer.phone, billing.phone],
    emails: [order.contact_email, order.email, customer.email],
    isTest: order.test,
    cancelledAt: order.cancelled_at,
    updatedAt: order.updated_at,
  })
}

/** The same of the GraphQL API, which knows visits where REST knows a landing page: the last one led to the order. */
export function readGraphqlOrder(order: JsonObject): ShopOrder | null {
  const { amount, currencyCode } = asObject(asObject(order.totalPriceSet).shopMoney)
  const { firstVisit, lastVisit } = asObject(order.customerJourneySummary)
  const visit = asObject(lastVisit ?? firstVisit)
  return readOrder({
    id: order.id,
    name: order.name,
    totalPrice: amount,
    currency: currencyCode,
    orderedAt: order.processedAt,
    createdAt: order.createdAt,
    financialStatus: order.displayFinancialStatus,
    landingPage: visit.landingPage,
    utm: visit.utmParameters,
    phones: [order.phone, asObject(order.billingAddress).phone],
    emails: [order.email],
    isTest: order.test,
    cancelledAt: order.cancelledAt,
    updatedAt: order.updatedAt,
  })
}

function readOrder(given: Given): ShopOrder | null {
  const id = readOrderId(String(given.id))
  const totalPrice = readMoney(given.totalPrice)
  const currency = readMatching(given.currency, CURRENCY)
  const orderedAt = readMoment(given.orderedAt) ?? readMoment(given.createdAt)
  const updatedAt = readMoment(given.updatedAt)
  if (id === null || totalPrice === null || currency === null || orderedAt === null || updatedAt === null) return null
  return {
    id,
    name: readText(given.name, MAX_NAME_LENGTH) ?? `#${id}`,
    totalPrice,
    currency,
    orderedAt,
    financialStatus: readText(given.financialStatus, MAX_STATUS_LENGTH)?.toLowerCase() ?? null,
    landingPage: readText(given.landingPage, MAX_ADDRESS_LENGTH),
    utm: isJsonObject(given.utm) ? { source: asText(given.utm.source), campaign: asText(given.utm.campaign) } : null,
    buyer: { phones: readTexts(given.phones, MAX_PHONE_LENGTH), emails: readTexts(given.emails, MAX_EMAIL_LENGTH) },
    isTest: given.isTest === true,
    // A moment that cannot be read says all the same that it was cancelled.
    cancelledAt: given.cancelledAt ? (readMoment(given.cancelledAt) ?? updatedAt) : null,
    updatedAt,
  }
}

/** Shops write money as text; a number is written as it came. */
function readMoney(value: unknown): string | null {
  return readMatching(typeof value === 'number' ? String(value) : value, MONEY)
}

function readMatching(value: unknown, pattern: RegExp): string | null {
  const text = asText(value)
  return text !== null && pattern.test(text) ? text : null
}

function readMoment(value: unknown): Date | null {
  const text = readMatching(value, MOMENT)
  const moment = new Date(text ?? Number.NaN)
  return Number.isNaN(moment.getTime()) ? null : moment
}

function readText(value: unknown, maxLength: number): string | null {
  const text = asText(value)
  return text === null ? null : toStorable(text.slice(0, maxLength))
}

/** The texts among the values, each once; longer ones are none. */
function readTexts(values: unknown[], maxLength: number): string[] {
  const texts = values.map((value) => asText(value)?.trim() ?? '')
  return [...new Set(texts)].filter((text) => text !== '' && text.length <= maxLength).map(toStorable)
}
