import { asObject, asText, isJsonObject, type JsonObject } from '../lib/text/json.js'
import { toStorable } from '../lib/text/text.js'
import { readOrderId } from './order-id.js'

/** An order from either API or a webhook. */
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
  /** Where the visit that led to the order began: a URL, or a path with its query. */
  landingPage: string | null
  /** The shop's own reading of the landing page; null if it gives none. */
  utm: { source: string | null; campaign: string | null } | null
  /** The buyer's phones and addresses as written in the order, the most reliable first. */
  buyer: { phones: string[]; emails: string[] }
  isTest: boolean
  cancelledAt: Date | null
  updatedAt: Date
}

const MAX_NAME_LENGTH = 200
const MAX_STATUS_LENGTH = 64
const MAX_PHONE_LENGTH = 64
const MAX_EMAIL_LENGTH = 320
/** The maximum length of an address; the rest would be ignored. */
const MAX_ADDRESS_LENGTH = 8_192
const MONEY = /^-?\d{1,18}(\.\d{1,9})?$/
const CURRENCY = /^[A-Z]{3}$/
/** A year that PostgreSQL can store, and a time zone. */
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/

/** The fields of an order before validation. */
type Given = { [Field in Exclude<keyof ShopOrder, 'buyer'>]: unknown } & {
  createdAt: unknown
  phones: unknown[]
  emails: unknown[]
}

/** Reads an order of REST or of a webhook; null if it is incomplete. */
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

/** Reads an order of GraphQL, which has visits instead of a landing page; the last one led to the order. */
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
    // An unreadable time still means that the order was cancelled.
    cancelledAt: given.cancelledAt ? (readMoment(given.cancelledAt) ?? updatedAt) : null,
    updatedAt,
  }
}

/** Shops send money as text; a number is kept as written. */
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

/** The distinct texts among the values; longer ones are left out. */
function readTexts(values: unknown[], maxLength: number): string[] {
  const texts = values.map((value) => asText(value)?.trim() ?? '')
  return [...new Set(texts)].filter((text) => text !== '' && text.length <= maxLength).map(toStorable)
}
