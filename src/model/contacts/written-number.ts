import type { CountryCode } from 'libphonenumber-js/max'
import {
  formsOf,
  isOfCountry,
  isUserIdChatId,
  type PhoneNumberReading,
  readInternational,
  readNational,
  userIdChatId,
} from './phone-number.js'
import { addressesOfUserId, addressOfParent, isUserId } from './user-id.js'

/**
 * Where a number was written, which decides how bare digits are read if two countries have such a number. `api`: a
 * field of the API. `table`: a cell of a file, or a line of a list that a person pasted. `international`: a field whose
 * digits begin with the country code (a chat id, a number of Interface B).
 */
export type NumberField = 'api' | 'table' | 'international'

/**
 * Whom a number names. `chat_id`: a person without a number, by the assigned chat id. `user`: a person by the
 * upstream's user id. `group` and `lid`: a group, or a person who hides the number, by the network's id.
 */
export interface ContactNumber {
  kind: 'phone' | 'chat_id' | 'user' | 'group' | 'lid'
  /** The contact's `chat_id`. Of a phone number: digits only, country code included. */
  digits: string
  /** The addresses under which the contact is stored. */
  forms: readonly string[]
  /** The id of the chat on the network. */
  jid: string
  /** The user id that names the person (kind `user` only). */
  userId?: string
}

/** How a text can be read as a number. */
export interface NumberReading {
  /**
   * The readings in the order in which a known contact is looked for. The digits exactly as they are given come first:
   * the API hands them out, and some are no possible number (ids from before a country changed its numbers).
   */
  candidates: readonly ContactNumber[]
  /** How it is read if no contact is known; null: it is not a possible number. */
  preferred: ContactNumber | null
  /** Whether it is a number that a spreadsheet program rounded, such as 5,5119E+12. */
  isRounded: boolean
  /** Whether the country was not written, by +, 00 or as a JID. */
  isCountryAssumed: boolean
  /** Whether it is a valid number of the organization's country and one of another country. */
  isAmbiguous: boolean
}

/** The maximum length of fields that hold numbers: the longest user id, with a little around it. */
export const MAX_NUMBER_INPUT = 150
const MAX_CACHED = 10_000
/** Of a number with its country code. */
export const ANY_COUNTRY = 'US'
const readings = new Map<string, NumberReading>()

/** Characters that show nothing, and blanks that Unicode does not count as spaces. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu
const BLANKS = /[\s\p{Z}]/gu
const SCHEME = /^(?:whatsapp|tel):/i
/** Characters that people write around and between digits: dashes, dots, slashes, brackets, quotes. */
const SEPARATORS =
  /[\s\p{Z}\p{Pd}\u2212\u30FC.\uFF0E\u00B7\u2022\u30FB/\uFF0F\u2044()[\]\uFF08\uFF09\uFF3B\uFF3D~_'"\u2019]/gu
/** A file may quote its cells twice, and spreadsheets mark text with an apostrophe. */
const QUOTES = /^['"\u2019]+|['"\u2019]+$/g
const FOREIGN_DIGITS = /[\uFF10-\uFF19\u0660-\u0669\u06F0-\u06F9]/g
/** A number that a program took for a decimal. Before the point it is a whole number: `98765.00000` is one, too. */
const DECIMAL = /^(\+?\d{8,})\.0+$/
/** Up to three digits in brackets are an area code. More of them may begin with a country code. */
const AREA_CODE = /^[([\uFF08\uFF3B]\d{1,3}[)\]\uFF09\uFF3D]/
const SCIENTIFIC = /^\+?\d+(?:[.,]\d+)?e[+-]?\d+$/i

/** With the number of the device, which is left out. */
const JID = /^([^@]+?)(?::\d+)?@(s\.whatsapp\.net|c\.us|g\.us|lid)$/i
/** Of the network, and of the business API: base64, in which case matters. */
const GROUP_ID = /^(?:\d{1,40}(?:-\d{1,20})?|(?=.*[A-Za-z])[\w+/-]{16,140}={0,2})$/
const INTERNATIONAL_PREFIX = /^(?:\+|00)/
const LID = /^\d{1,40}$/
/** Ids of groups without their server: the new kind, longer than any number, and the old one, a number and a time. */
const BARE_GROUP = /^(?:[1-9]\d{17,39}|\d{10,20}-\d{10,20})$/

/**
 * Decides how a written number is read, everywhere (docs/contacts.md has the rule). International: with `+` or `00`, a
 * JID, and all in a field of that kind. National: a leading 0; and a number that is written as people at home write it,
 * if it is valid at home. Bare digits: as the country says that has such a number, and if two have, as the field says.
 * Digits that are valid nowhere are read as international if they are possible, else as national. Never throws. The
 * newest 10,000 results are cached, since every request reads a number or two.
 */
export function readNumber(input: string, country: CountryCode, field: NumberField): NumberReading {
  if (input.length > MAX_NUMBER_INPUT) return NOTHING
  const key = `${field}\0${country}\0${input}`
  const cached = readings.get(key)
  if (cached !== undefined) return cached
  const reading = Object.freeze(read(input, country, field))
  remember(key, reading)
  return reading
}

/** The reading of a known contact, or else the preferred one; null: it is not a possible number, and nobody has it. */
export function chooseReading(
  { candidates, preferred }: NumberReading,
  isKnown: (address: string) => boolean,
): ContactNumber | null {
  return candidates.find(({ forms }) => forms.some(isKnown)) ?? preferred
}

/** Whether the choice between the readings depends on which contacts are known. */
export function needsKnown({ candidates, preferred }: NumberReading): boolean {
  return candidates.some((candidate) => candidate !== preferred)
}

/** The addresses under which a known contact is looked for, in their order. */
export function addressesOf({ candidates }: NumberReading): string[] {
  return [...new Set(candidates.flatMap(({ forms }) => forms))]
}

/** The digits of a number with country code, as they were given; null if the text is no number. */
export function readDigits(text: string): string | null {
  const [literal] = readNumber(text, ANY_COUNTRY, 'international').candidates
  return (literal?.kind === 'phone' && literal.forms[0]) || null
}

/** What two texts that name the same number can mean; null if they cannot mean the same. */
export function commonReading(one: NumberReading, other: NumberReading): NumberReading | null {
  const isOfOther = ({ forms }: ContactNumber) =>
    other.candidates.some((candidate) => candidate.forms.some((form) => forms.includes(form)))
  const candidates = one.candidates.filter(isOfOther)
  if (candidates.length === 0) return null
  const preferred = [one.preferred, other.preferred].find(
    (number) => number && candidates.some(({ forms }) => forms.some((form) => number.forms.includes(form))),
  )
  return {
    ...one,
    candidates,
    preferred: preferred ?? null,
    isCountryAssumed: one.isCountryAssumed && other.isCountryAssumed,
    isAmbiguous: one.isAmbiguous && other.isAmbiguous,
  }
}

/** A number whose country was assumed, and may be wrong. */
export interface DoubtfulNumber {
  given: string
  /** As it was read, with + and country code. */
  read_as: string
  /** As it could be read as well; null if it was read as another country's because it is no number at home. */
  or: string | null
}

/** The doubt about a number without a country code; null if only a number of the organization's country was meant. */
export function findDoubt(
  given: string,
  reading: NumberReading,
  { digits }: ContactNumber,
  country: CountryCode,
): DoubtfulNumber | null {
  const { candidates, isCountryAssumed, isAmbiguous } = reading
  if (!isCountryAssumed || !(isAmbiguous || !isOfCountry(digits, country))) return null
  const other = isAmbiguous ? candidates.find((candidate) => candidate.digits !== digits) : undefined
  return { given, read_as: `+${digits}`, or: other ? `+${other.digits}` : null }
}

const NOTHING: NumberReading = Object.freeze({
  candidates: Object.freeze([]),
  preferred: null,
  isRounded: false,
  isCountryAssumed: false,
  isAmbiguous: false,
})

function read(input: string, country: CountryCode, field: NumberField): NumberReading {
  const visible = toAscii(input.replace(INVISIBLE, '')).replace(BLANKS, ' ').trim()
  const text = visible.replace(QUOTES, '').replace(SCHEME, '').trim()
  if (isUserId(text)) return only(ofUserId(text))
  const isBare = /^\d+$/.test(text.replace(DECIMAL, '$1'))
  const compact = text.replace(DECIMAL, '$1').replaceAll(' ', '')
  const [, user, server] = JID.exec(compact) ?? []
  if (user !== undefined) return readJid(user, (server as string).toLowerCase())
  if (SCIENTIFIC.test(compact)) return { ...NOTHING, isRounded: true }
  if (field === 'international' && BARE_GROUP.test(compact)) return readJid(compact, 'g.us')
  const typed = strip(compact)
  if (!/^\+?\d+$/.test(typed)) return NOTHING
  if (isUserIdChatId(typed)) return only({ kind: 'chat_id', digits: typed, forms: [typed], jid: toJid(typed) })
  if (INTERNATIONAL_PREFIX.test(typed) || field === 'international') return readWithCountry(typed)
  return isBare ? readBare(typed, country, field) : readWritten(typed, country, AREA_CODE.test(compact))
}

/** In each supported Unicode block of decimal digits, the lowest four bits are the digit's value. */
function toAscii(text: string): string {
  return text.replace(FOREIGN_DIGITS, (digit) => String(digit.charCodeAt(0) & 0xf)).replaceAll('\uFF0B', '+')
}

function strip(compact: string): string {
  return compact.replace(SEPARATORS, '')
}

function readJid(user: string, server: string): NumberReading {
  // People without a number and a JID are shown with the chat id that Parley assigned
  // (model/instances/gateway-message).
  if (server !== 'g.us' && isUserIdChatId(user)) {
    return only({ kind: 'chat_id', digits: user, forms: [user], jid: toJid(user) })
  }
  if (server === 'lid') return LID.test(user) ? only(ofNetworkId('lid', `${user}@lid`)) : NOTHING
  if (server === 'g.us') return GROUP_ID.test(user) ? only(ofNetworkId('group', `${user}@g.us`)) : NOTHING
  const typed = strip(user.replace(DECIMAL, '$1'))
  return /^\+?\d+$/.test(typed) ? readWithCountry(typed) : NOTHING
}

function readWithCountry(typed: string): NumberReading {
  const digits = typed.replace(INTERNATIONAL_PREFIX, '')
  return toReading(digits, [readInternational(digits)])
}

function readBare(digits: string, country: CountryCode, field: NumberField): NumberReading {
  const national = readNational(digits, country)
  if (digits.startsWith('0')) return toReading(digits, [national], { isCountryAssumed: true })
  const international = readInternational(digits)
  const isValidAbroad = international?.isValid === true
  const isValidAtHome = national?.isValid === true && !isWithOwnCode(international, country)
  const isAmbiguous = isValidAtHome && isValidAbroad
  const isNational = isValidAtHome && (field === 'table' || !isValidAbroad)
  const inOrder = isNational ? [national, international] : [international, national]
  const possible = inOrder.filter((reading) => reading !== undefined)
  return toReading(digits, isAmbiguous ? possible : possible.slice(0, 1), { isCountryAssumed: true, isAmbiguous })
}

/** Nobody hands out a number with separators, so it is never looked up literally. */
function readWritten(digits: string, country: CountryCode, hasAreaCode: boolean): NumberReading {
  const national = readNational(digits, country)
  const international = digits.startsWith('0') ? undefined : readInternational(digits)
  const isAbroad = international?.isValid === true && !hasAreaCode
  const inOrder =
    isWithOwnCode(international, country) || (isAbroad && !national?.isValid)
      ? [international, national]
      : [national, international]
  return toReading(null, inOrder.filter((reading) => reading !== undefined).slice(0, 1), { isCountryAssumed: true })
}

/** With the country code of home, it is no number abroad: some countries have numbers that begin as their own code. */
function isWithOwnCode(international: PhoneNumberReading | undefined, country: CountryCode): boolean {
  return international?.isValid === true && isOfCountry(international.digits, country)
}

/** `literal`: the digits as they were given; null if they are not looked up. `inOrder`: the preferred reading first. */
function toReading(
  literal: string | null,
  inOrder: readonly (PhoneNumberReading | undefined)[],
  assumption: Partial<NumberReading> = {},
): NumberReading {
  const numbers = inOrder.flatMap((reading) => (reading ? [toPhone(reading.digits, literal)] : []))
  const preferred = numbers[0] ?? null
  if (literal !== null && !numbers.some(({ forms }) => forms[0] === literal)) numbers.unshift(ofLiteral(literal))
  const candidates = numbers.toSorted(
    (one, other) => Number(other.forms[0] === literal) - Number(one.forms[0] === literal),
  )
  return { ...NOTHING, ...assumption, candidates, preferred }
}

/** The literal form is looked up first. */
function toPhone(digits: string, literal: string | null): ContactNumber {
  const forms = formsOf(digits)
  const inOrder = literal !== null && forms.includes(literal) ? [...new Set([literal, ...forms])] : forms
  return { kind: 'phone', digits, forms: inOrder, jid: toJid(digits) }
}

function ofLiteral(digits: string): ContactNumber {
  return { kind: 'phone', digits, forms: [digits], jid: toJid(digits) }
}

function ofNetworkId(kind: 'group' | 'lid', jid: string): ContactNumber {
  const chatId = userIdChatId(jid)
  return { kind, digits: chatId, forms: [`user:${jid}`, chatId], jid }
}

/** A person by a user id or a parent user id, in any form. */
export function ofUserId(userId: string): ContactNumber {
  const [address, chatId] = addressesOfUserId(userId)
  const forms = [address, addressOfParent(userId), chatId]
  return { kind: 'user', digits: chatId, forms, jid: toJid(chatId), userId }
}

/** How the text of a field for user ids is read: as it is. */
export function readUserId(text: string): NumberReading {
  return only(ofUserId(text.trim()))
}

function only(number: ContactNumber): NumberReading {
  return { ...NOTHING, candidates: [number], preferred: number }
}

function toJid(digits: string): string {
  return `${digits}@s.whatsapp.net`
}

/** Inputs are short and the oldest entry is dropped, so the cache stays within a few megabytes. */
function remember(key: string, reading: NumberReading): void {
  if (readings.size >= MAX_CACHED) {
    const oldest = readings.keys().next()
    if (!oldest.done) readings.delete(oldest.value)
  }
  readings.set(key, reading)
}
