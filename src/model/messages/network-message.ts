import { asObject, asText, isJsonObject, type JsonObject } from '../../lib/text/json.js'

/** Messages of the network that only wrap another one. */
const WRAPPERS = [
  'ephemeralMessage',
  'viewOnceMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
  'documentWithCaptionMessage',
  'deviceSentMessage',
  'editedMessage',
  'groupMentionedMessage',
  'lottieStickerMessage',
  'botForwardedMessage',
  'associatedChildMessage',
]
/** How many wrappers are unwrapped. */
const MAX_WRAPPERS = 5

/** The message without its wrappers. */
export function innerMessage(message: JsonObject): JsonObject {
  let inner = message
  for (let depth = 0; depth < MAX_WRAPPERS; depth++) {
    const wrapper = WRAPPERS.find((name) => isJsonObject(asObject(inner[name]).message))
    if (wrapper === undefined) return inner
    inner = asObject(asObject(inner[wrapper]).message)
  }
  return inner
}

/** The message as clients of gateways know it: unwrapped, with any text as `conversation`. */
export function plainMessage(message: JsonObject): JsonObject {
  const { extendedTextMessage, ...rest } = innerMessage(message)
  const text = asText(asObject(extendedTextMessage).text)
  return text === null ? innerMessage(message) : { conversation: text, ...rest }
}
