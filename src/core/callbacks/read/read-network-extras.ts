import { readNumber } from '../../../channels/linked-device/wire/network-message.js'
import { asObject, asText, type JsonObject } from '../../../lib/text/json.js'
import { type MessageExtras, readExtras } from '../../../model/messages/shown/extras.js'

/** From this count on, the network calls a message forwarded many times. */
const OFTEN = 5

/** What stands beside the content of a message of the network; any part may hold it. */
export function contextsOf(message: JsonObject): JsonObject[] {
  return Object.values(message).map((part) => asObject(asObject(part).contextInfo))
}

/** The forwarded mark and the ad of a message of the network, in the form of the upstream's messages. */
export function readNetworkExtras(message: JsonObject): MessageExtras {
  const contexts = contextsOf(message)
  const forwarded = contexts.filter(({ isForwarded }) => isForwarded === true)
  const isOften = forwarded.some(({ forwardingScore }) => (readNumber(forwardingScore) ?? 0) >= OFTEN)
  const ad = contexts.map(({ externalAdReply }) => asObject(externalAdReply)).find(isAd)
  return readExtras({
    context: { forwarded: forwarded.length > 0, frequently_forwarded: isOften },
    referral: ad && toReferral(ad),
  })
}

/** Previews of links have the same fields, but no source. */
function isAd({ sourceId, ctwaClid }: JsonObject): boolean {
  return asText(sourceId) !== null || asText(ctwaClid) !== null
}

function toReferral(ad: JsonObject): JsonObject {
  return {
    source_url: ad.sourceUrl,
    source_id: ad.sourceId,
    source_type: ad.sourceType,
    headline: ad.title,
    body: ad.body,
    image_url: ad.originalImageUrl,
    thumbnail_url: ad.thumbnailUrl,
    ctwa_clid: ad.ctwaClid,
    welcome_message: { text: ad.automatedGreetingMessageShown === true ? ad.greetingMessageBody : null },
    ref: ad.ref,
  }
}
