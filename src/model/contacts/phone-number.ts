import {
  type CountryCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import { sha256 } from '../../lib/crypto/signature.js'

/**
 * The result of reading a text as a phone number. `digits` is the canonical number: digits only, country code included;
 * it is the contact's `chat_id`. `forms` starts with `digits`, followed by the other spellings of the number that the
 * upstream or people use (old and new Brazilian, Mexican, Argentinian). Each form is stored as an address of the
 * contact.
 */
export type PhoneNumberReading = { possible: true; digits: string; forms: readonly string[] } | { possible: false }

interface StableNumber {
  digits: string
  valid: boolean
}

interface RewriteRule {
  pattern: RegExp
  replacement: string
}

const maxInputLength = 40
/** E.164. Some national plans have longer service numbers, which cannot be reached from abroad. */
const maxDigits = 15
const maxCachedReadings = 10_000
const notPossible: PhoneNumberReading = Object.freeze({ possible: false })
const readings = new Map<string, PhoneNumberReading>()

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

/**
 * Characters that people write around and between digits: spaces, dashes, dots, slashes, brackets, quotes, invisible
 * marks.
 */
const separators =
  /[\s\p{Z}\p{Cf}\p{Pd}\u2212\u30FC.\uFF0E\u00B7\u2022\u30FB/\uFF0F\u2044()[\]\uFF08\uFF09\uFF3B\uFF3D~_'"\u2019]/gu
const foreignDigits = /[\uFF10-\uFF19\u0660-\u0669\u06F0-\u06F9]/g

/** Whether `value` is an upper-case ISO 3166 country code (`BR`) whose numbers can be read. */
export function isCountryCode(value: string): value is CountryCode {
  return isSupportedCountry(value)
}

/**
 * Reads a phone number as people and systems write it. `+` or `00` begins an international number, another leading 0 a
 * national one of `defaultCountry`. Other digits are international if that is a valid number, else national if that is
 * valid, else whichever is possible, international first. A number must be possible (the right length for its country)
 * but need not be valid, since test numbers are not. Letters, extensions, more than 40 characters and the chat ids of
 * `userIdChatId` are not possible. Never throws. The newest 10,000 results are cached, since every request reads a
 * number or two.
 */
export function readPhoneNumber(input: string, defaultCountry: CountryCode): PhoneNumberReading {
  if (input.length > maxInputLength) return notPossible
  const key = `${defaultCountry}\0${input}`
  const cached = readings.get(key)
  if (cached !== undefined) return cached
  const reading = read(input, defaultCountry)
  remember(key, reading)
  return reading
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

function read(input: string, defaultCountry: CountryCode): PhoneNumberReading {
  const typed = stripSpecialCharacters(input)
  if (typed === undefined || isUserIdChatId(typed)) return notPossible
  const number = interpret(typed, defaultCountry)
  return number === undefined ? notPossible : toReading(number.digits)
}

/**
 * The digits of `input`, with a leading + if there is one; undefined if it has other characters than digits and
 * separators.
 */
function stripSpecialCharacters(input: string): string | undefined {
  const typed = input
    .replace(/^\s*tel:/i, '')
    .replace(separators, '')
    .replace(/^\uFF0B/, '+')
    .replace(foreignDigits, toAsciiDigit)
  return /^\+?\d+$/.test(typed) ? typed : undefined
}

/** In each supported Unicode block of decimal digits, the lowest four bits are the digit's value. */
function toAsciiDigit(digit: string): string {
  return String(digit.charCodeAt(0) & 0xf)
}

function interpret(typed: string, defaultCountry: CountryCode): StableNumber | undefined {
  if (typed.startsWith('+')) return readInternational(typed.slice(1))
  if (typed.startsWith('00')) return readInternational(typed.slice(2))
  if (typed.startsWith('0')) return readTrunk(typed, defaultCountry)
  return readBareDigits(typed, defaultCountry)
}

/** If national numbers have no leading 0 (the USA, Spain), a written 0 is dropped. */
function readTrunk(typed: string, defaultCountry: CountryCode): StableNumber | undefined {
  return readNational(typed, defaultCountry) ?? readNational(typed.slice(1), defaultCountry)
}

function readBareDigits(typed: string, defaultCountry: CountryCode): StableNumber | undefined {
  const international = readInternational(typed)
  if (international?.valid) return international
  const national = readNational(typed, defaultCountry)
  return national?.valid ? national : (international ?? national)
}

function readNational(digits: string, country: CountryCode): StableNumber | undefined {
  const number = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false })
  return number?.isPossible() ? readInternational(number.number.slice(1)) : undefined
}

/**
 * Reads until a number reads as itself, so that a chat id always reads back to the same contact. A round can only drop
 * a trunk prefix ("+44 (0)7400…", "+54 11 15…") or apply a canonical rule, so a number that still changes after the
 * last round is not possible.
 */
function readInternational(digits: string): StableNumber | undefined {
  let candidate = digits
  for (let round = 0; round < 4; round++) {
    candidate = rewrite(candidate, canonicalRules) ?? candidate
    const number = parsePhoneNumberFromString(`+${candidate}`, { extract: false })
    if (number === undefined) return undefined
    if (number.number === `+${candidate}`) {
      return isReachable(number) ? { digits: candidate, valid: number.isValid() } : undefined
    }
    candidate = number.number.slice(1)
  }
  return undefined
}

function isReachable(number: PhoneNumber): boolean {
  return number.number.length <= 1 + maxDigits && number.isPossible()
}

function toReading(digits: string): PhoneNumberReading {
  const other = rewrite(digits, aliasRules)
  return Object.freeze({
    possible: true,
    digits,
    forms: Object.freeze(other === undefined ? [digits] : [digits, other]),
  })
}

function rewrite(digits: string, rules: readonly RewriteRule[]): string | undefined {
  const rule = rules.find(({ pattern }) => pattern.test(digits))
  return rule && digits.replace(rule.pattern, rule.replacement)
}

/** Inputs are short and the oldest entry is dropped, so the cache stays within a few megabytes. */
function remember(key: string, reading: PhoneNumberReading): void {
  if (readings.size >= maxCachedReadings) {
    const oldest = readings.keys().next()
    if (!oldest.done) readings.delete(oldest.value)
  }
  readings.set(key, reading)
}
