import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import { sha256 } from '../../lib/crypto/signature.js'

/**
 * A possible phone number. `digits` is the canonical number: digits only, country code included; it is the contact's
 * `chat_id`. `isValid`: the numbering plan has assigned it, which it has not for test numbers.
 */
export interface PhoneNumberReading {
  digits: string
  isValid: boolean
}

interface RewriteRule {
  pattern: RegExp
  replacement: string
}

/** E.164. Some national plans have longer service numbers, which cannot be reached from abroad. */
const maxDigits = 15

/** Forms that stand for a canonical one: Mexican mobiles with the old 1, Brazilian mobiles without the 9. */
const canonicalRules: readonly RewriteRule[] = [
  { pattern: /^521(?<line>\d{10})$/, replacement: '52$<line>' },
  { pattern: /^55(?<area>[1-9][1-9])(?<line>[6-9]\d{7})$/, replacement: '55$<area>9$<line>' },
]

/**
 * From a canonical number to its other form. Argentina has no canonical form, because a 9 would turn a landline into a
 * mobile.
 */
const aliasRules: readonly RewriteRule[] = [
  { pattern: /^52(?<line>\d{10})$/, replacement: '521$<line>' },
  { pattern: /^55(?<area>[1-9][1-9])9(?<line>[6-9]\d{7})$/, replacement: '55$<area>$<line>' },
  { pattern: /^549(?<line>\d{10})$/, replacement: '54$<line>' },
  { pattern: /^54(?<line>\d{10})$/, replacement: '549$<line>' },
]

/** Whether `value` is an upper-case ISO 3166 country code (`BR`) whose numbers can be read. */
export function isCountryCode(value: string): value is CountryCode {
  return isSupportedCountry(value)
}

/** The country (ISO 3166) of a number with its country code; null if its digits do not say. */
export function countryOf(digits: string): string | null {
  return parsePhoneNumberFromString(`+${digits}`)?.country ?? null
}

/** Whether a number begins with the calling code of a country, which other countries may share. */
export function isOfCountry(digits: string, country: CountryCode): boolean {
  return digits.startsWith(getCountryCallingCode(country))
}

/**
 * The chat id of a person who is known only by the upstream's user id: `0` and the SHA-256 of the id's UTF-8, taken as
 * a big-endian integer modulo 10^19, left-padded with zeros to 19 digits. No phone number begins with 0.
 */
export function userIdChatId(userId: string): string {
  const hash = BigInt(`0x${sha256(userId).toString('hex')}`)
  return `0${(hash % 10n ** 19n).toString().padStart(19, '0')}`
}

/** Whether `value` has the form that `userIdChatId` returns; such a chat id is looked up unchanged. */
export function isUserIdChatId(value: string): boolean {
  return /^0\d{19}$/.test(value)
}

/**
 * Reads digits as a number of `country`, with or without the 0 that is dialled before a number there. Undefined if it
 * is not possible (no number of the country has this length).
 */
export function readNational(digits: string, country: CountryCode): PhoneNumberReading | undefined {
  const number = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false })
  const reading = number?.isPossible() ? readInternational(number.number.slice(1)) : undefined
  // If national numbers have no leading 0 (the USA, Spain), a written 0 is dropped.
  return reading ?? (digits.startsWith('0') ? readNational(digits.slice(1), country) : undefined)
}

/**
 * Reads digits that begin with a country code; undefined if they are not a possible number. Reads until a number reads
 * as itself, so that a chat id always reads back to the same contact. A round can only drop a trunk prefix
 * ("+44 (0)7400…", "+54 11 15…") or apply a canonical rule, so a number that still changes after the last round is not
 * possible.
 */
export function readInternational(digits: string): PhoneNumberReading | undefined {
  let candidate = digits
  for (let round = 0; round < 4; round++) {
    candidate = rewrite(candidate, canonicalRules) ?? candidate
    const number = parsePhoneNumberFromString(`+${candidate}`, { extract: false })
    if (number === undefined) return undefined
    if (number.number === `+${candidate}`) {
      return isReachable(number) ? { digits: candidate, isValid: number.isValid() } : undefined
    }
    candidate = number.number.slice(1)
  }
  return undefined
}

/**
 * The spellings of a canonical number that the upstream or people use (old and new Brazilian, Mexican, Argentinian),
 * itself first. Each is stored as an address of the contact.
 */
export function formsOf(digits: string): readonly string[] {
  const other = rewrite(digits, aliasRules)
  return other === undefined ? [digits] : [digits, other]
}

function isReachable(number: PhoneNumber): boolean {
  return number.number.length <= 1 + maxDigits && number.isPossible()
}

function rewrite(digits: string, rules: readonly RewriteRule[]): string | undefined {
  const rule = rules.find(({ pattern }) => pattern.test(digits))
  return rule && digits.replace(rule.pattern, rule.replacement)
}
