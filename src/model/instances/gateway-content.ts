import { asObject, asText, type JsonObject } from '../../lib/text/json.js'
import { presentOrder } from '../messages/shown/records.js'
import type { CommonContent } from '../messages/shown/schemas.js'

/** The network's version of answers to forms. */
const FORM_VERSION = 3

/** A filled form in the network's format. */
export function composeForm(content: JsonObject): JsonObject {
  const { name, body, response_json: json } = asObject(content.nfm_reply)
  return {
    body: { text: asText(body) ?? '' },
    nativeFlowResponseMessage: {
      name: asText(name) ?? 'flow',
      paramsJson: asText(json) ?? '{}',
      version: FORM_VERSION,
    },
  }
}

/** A cart in the network's format, which has no lines: they are in the message's `content`. */
export function composeOrder(content: JsonObject): JsonObject {
  const { text, items, total } = presentOrder(content)
  return {
    itemCount: items.reduce((sum, { quantity }) => sum + (quantity ?? 1), 0),
    message: text ?? '',
    ...(total !== undefined && { totalAmount1000: Math.round(total * 1_000), totalCurrencyCode: items[0]?.currency }),
  }
}

/** A product in the network's format. */
export function composeProduct(content: JsonObject): JsonObject {
  const { product_retailer_id, product_id } = asObject(content.product)
  return { product: { retailerId: asText(product_retailer_id) ?? asText(product_id) ?? '' } }
}

/** The ad that a contact came from, in the network's format. */
export function toAdReply(referral: NonNullable<CommonContent['referral']>): JsonObject {
  const { headline, body, source_url, source_id, source_type, image_url, thumbnail_url, ctwa_clid, ref } = referral
  const fields = {
    title: headline,
    body,
    sourceUrl: source_url,
    sourceId: source_id,
    sourceType: source_type,
    originalImageUrl: image_url,
    thumbnailUrl: thumbnail_url,
    ctwaClid: ctwa_clid,
    ref,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
