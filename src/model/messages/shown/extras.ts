import { asObject, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { readItems, readText, readTime } from './read.js'
import type { CommonContent } from './schemas.js'

/**
 * What a message of any kind may have beside its content; the column `extras`. The values are as they were received, so
 * a later version can show more of them.
 */
export interface MessageExtras {
  /** The ad or post that the contact came from. */
  referral?: unknown
  /** The product that was open when the contact wrote. */
  referred_product?: unknown
  forwarded?: true
  frequently_forwarded?: true
  /** Why the content is missing. */
  errors?: unknown
  /** The network's name of a message that it has no kind for. */
  raw_type?: string
  /** The addresses before and after a change; digits and user ids. */
  address_change?: { from: PersonIds; to: PersonIds }
  /** When its author changed or deleted it, ISO 8601. Written by the statements that change it. */
  edited_at?: string
  deleted_at?: string
}

/** A number's digits and a user id. */
interface PersonIds {
  waId: string | null
  userId: string | null
}

/** The extras, or null if there are none. */
export function orNull(extras: MessageExtras): MessageExtras | null {
  return Object.keys(extras).length === 0 ? null : extras
}

/** Reads what stands beside the content of a message of the upstream. */
export function readExtras({ context, referral, errors }: JsonObject): MessageExtras {
  const { forwarded, frequently_forwarded: often, referred_product: product } = asObject(context)
  return {
    ...(isJsonObject(referral) && { referral }),
    ...(isJsonObject(product) && { referred_product: product }),
    ...(forwarded === true && { forwarded }),
    ...(often === true && { frequently_forwarded: often }),
    ...(Array.isArray(errors) && errors.length > 0 && { errors }),
  }
}

/** The types that the upstream sends with errors in place of content. */
const MAY_LACK_CONTENT = new Set(['unsupported', 'unknown', 'interactive'])

/**
 * What interfaces and events show of the extras. Rows of the version before have the referral of a text, and the errors
 * of a message without content, in their `content`.
 */
export function presentExtras(stored: unknown, messageType: string, content: unknown): CommonContent {
  const extras = asObject(stored)
  const referral = presentReferral(extras.referral ?? (messageType === 'text' ? content : null))
  const product = presentProduct(extras.referred_product)
  const errors = readErrors(extras.errors ?? (MAY_LACK_CONTENT.has(messageType) ? content : null))
  const editedAt = readTime(extras.edited_at)
  const deletedAt = readTime(extras.deleted_at)
  const isOften = extras.frequently_forwarded === true
  return {
    ...(referral && { referral }),
    ...(product && { referred_product: product }),
    ...((isOften || extras.forwarded === true) && { forwarded: isOften ? 'often' : 'once' }),
    ...(editedAt !== null && { edited_at: editedAt }),
    ...(deletedAt !== null && { deleted_at: deletedAt }),
    ...(errors.length > 0 && { errors }),
  }
}

/** The ad or post that a person came from, in the upstream's form; null if no field of it is known. */
export function presentReferral(value: unknown): CommonContent['referral'] | null {
  const fields = asObject(value)
  const referral = {
    source_url: readText(fields.source_url),
    source_id: readText(fields.source_id),
    source_type: readText(fields.source_type),
    headline: readText(fields.headline),
    body: readText(fields.body),
    media_type: readText(fields.media_type),
    image_url: readText(fields.image_url),
    video_url: readText(fields.video_url),
    thumbnail_url: readText(fields.thumbnail_url),
    ctwa_clid: readText(fields.ctwa_clid),
    welcome_message: readText(asObject(fields.welcome_message).text ?? fields.welcome_message),
    ref: readText(fields.ref),
  }
  return Object.values(referral).some((field) => field !== null) ? referral : null
}

function presentProduct(value: unknown): CommonContent['referred_product'] | null {
  const { catalog_id, product_retailer_id } = asObject(value)
  const product = { catalog_id: readText(catalog_id), product_id: readText(product_retailer_id) }
  return product.catalog_id === null && product.product_id === null ? null : product
}

function readErrors(value: unknown): NonNullable<CommonContent['errors']> {
  const errors = readItems(value, ({ code, title, message, details, error_data: data }) => ({
    code: typeof code === 'number' && Number.isFinite(code) ? code : readText(code),
    title: readText(title) ?? readText(message),
    details: readText(asObject(data).details) ?? readText(details),
  }))
  return errors.filter(({ code, title, details }) => code !== null || title !== null || details !== null)
}
