import { asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { readDigits as readWritten } from '../../../model/contacts/written-number.js'
import { readDigits } from './read-sender.js'

/**
 * The number that a person shared by the button that asks for it: digits with country code. Null for other cards, which
 * may be those of anybody. Some callbacks have the origin beside the cards, or the number in the vCard only.
 */
export function readSharedNumber(message: JsonObject): string | null {
  const [card, ...more] = asObjects(message.contacts)
  if (card === undefined || more.length > 0) return null
  if ((asText(card.origin) ?? asText(message.origin)) !== 'contact_request') return null
  const phones = asObjects(card.phones)
  const known = phones.flatMap(({ wa_id }) => readDigits(wa_id) ?? [])
  const written = phones.flatMap(({ phone }) => readInternational(asText(phone)) ?? [])
  const [number, ...others] = new Set(known.length > 0 ? known : [...written, ...readVcard(asText(card.vcard))])
  return number !== undefined && others.length === 0 ? number : null
}

/** Only numbers with + have a country code for certain. */
function readInternational(phone: string | null): string | null {
  return phone?.trim().startsWith('+') ? readWritten(phone) : null
}

function readVcard(vcard: string | null): string[] {
  return [...(vcard?.slice(0, 10_000) ?? '').matchAll(/waid=([1-9]\d{4,19})\b/gi)].map(([, digits = '']) => digits)
}
