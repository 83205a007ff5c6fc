import { asObject, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import { countryOf } from '../../../model/contacts/phone-number.js'
import type { Price } from '../../../model/messages/price.js'
import type { UpstreamPerson } from '../../contacts/resolution/resolve-contact.js'

const MAX_WORD = 64

/** Reads the price of a status; null if it says nothing. In groups the upstream nests it in the conversation. */
export function readPrice(status: JsonObject, { waId, userId }: UpstreamPerson): Price | null {
  const pricing = [status.pricing, asObject(status.conversation).pricing].find(isJsonObject)
  if (pricing === undefined) return null
  const { billable } = pricing
  const [model, type, category] = [pricing.pricing_model, pricing.type, pricing.category].map(readWord)
  if (typeof billable !== 'boolean' && !model && !type && !category) return null
  return {
    billable: typeof billable === 'boolean' ? billable : null,
    model: model ?? null,
    type: type ?? null,
    // Two spellings of the same categories are in use.
    category: category?.replaceAll('-', '_') ?? null,
    country: /^([A-Z]{2})\./.exec(userId ?? '')?.[1] ?? (waId === null ? null : countryOf(waId)),
  }
}

function readWord(value: unknown): string | null {
  const text = asText(value)
  return text && beginningOf(text, MAX_WORD)
}
