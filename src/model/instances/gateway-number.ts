import type { CountryCode } from 'libphonenumber-js/max'
import { isUserIdChatId, readPhoneNumber, userIdChatId } from '../contacts/phone-number.js'

/**
 * The recipient that a number of Interface B names: a person by a phone number (`digits` and `forms` as of
 * `readPhoneNumber`; for a person without a number both are the chat id), a group, or a person by the network's id for
 * people who hide their number.
 */
export type GatewayNumber =
  | { kind: 'person'; digits: string; forms: readonly string[] }
  | { kind: 'group'; jid: string }
  | { kind: 'lid'; jid: string }

const PERSON_JID = /^(\d{1,20})(?::\d+)?@(?:s\.whatsapp\.net|c\.us)$/
const GROUP_JID = /^(\d{1,40}(?:-\d{1,20})?)@g\.us$/
const LID_JID = /^(\d{1,40})(?::\d+)?@lid$/

/** Ids of groups without their server: the new kind, longer than any number, and the old one, a number and a time. */
const BARE_GROUP = /^(?:[1-9]\d{17,39}|\d{10,20}-\d{10,20})$/

/**
 * Reads a `number` or `remoteJid` of Interface B: digits, with or without `+` and separators, or a JID, also of a
 * device. A JID always includes the country code; other digits are read by `readPhoneNumber`. Null if it is invalid.
 */
export function readGatewayNumber(text: string, defaultCountry: CountryCode): GatewayNumber | null {
  const given = text.trim()
  const lid = LID_JID.exec(given)?.[1]
  // People without a number and a JID are shown with the chat id that Parley assigned
  // (model/instances/gateway-message).
  if (lid !== undefined && !isUserIdChatId(lid)) return { kind: 'lid', jid: `${lid}@lid` }
  const group = GROUP_JID.exec(given)?.[1] ?? BARE_GROUP.exec(given)?.[0]
  if (group !== undefined) return { kind: 'group', jid: `${group}@g.us` }
  const ofJid = PERSON_JID.exec(given)?.[1]
  const digits = lid ?? ofJid ?? given
  if (isUserIdChatId(digits)) return { kind: 'person', digits, forms: [digits] }
  const reading = readPhoneNumber(ofJid === undefined ? given : `+${ofJid}`, defaultCountry)
  return reading.possible ? { kind: 'person', digits: reading.digits, forms: reading.forms } : null
}

/** The addresses under which the recipient may be stored as a contact. */
export function addressesOf(number: GatewayNumber): readonly string[] {
  return number.kind === 'person' ? number.forms : [`user:${number.jid}`, userIdChatId(number.jid)]
}
