import type { CountryCode } from 'libphonenumber-js/max'
import { isUserIdChatId, readPhoneNumber, userIdChatId } from '../contacts/phone-number.js'

/**
 * Whom a number of Interface B names: a person by a phone number (`digits` and `forms` as of `readPhoneNumber`; of a person
 * without a number both are the chat id), a group, or a person by the network's id for those who hide their number.
 */
export type GatewayNumber =
  | { kind: 'person'; digits: string; forms: readonly string[] }
  | { kind: 'group'; jid: string }
  | { kind: 'lid'; jid: string }

const PERSON_JID = /^(\d{1,20})(?::\d+)?@(?:s\.whatsapp\.net|c\.us)$/
const GROUP_JID = /^(\d{1,40}(?:-\d{1,20})?)@g\.us$/
const LID_JID = /^(\d{1,40})(?::\d+)?@lid$/

/** Ids of groups without their server: the new kind, longer than any number, and the old one, of a number and a time. */
const BARE_GROUP = /^(?:[1-9]\d{17,39}|\d{10,20}-\d{10,20})$/

/**
 * Reads what clients of Interface B give as a `number` or `remoteJid`: digits, with or without `+` and separators, or a JID, also
 * one that names a device. A JID always has its country code; other digits are read as in `readPhoneNumber`. Null where it is none.
 */
export function readGatewayNumber(text: string, defaultCountry: CountryCode): GatewayNumber | null {
  const given = text.trim()
  const lid = LID_JID.exec(given)?.[1]
  // Whoever has neither a number nor an id of that network is shown so, under the chat id that we gave (model/instances/gateway-message).
  if (lid !== undefined && !isUserIdChatId(lid)) return { kind: 'lid', jid: `${lid}@lid` }
  const group = GROUP_JID.exec(given)?.[1] ?? BARE_GROUP.exec(given)?.[0]
  if (group !== undefined) return { kind: 'group', jid: `${group}@g.us` }
  const ofJid = PERSON_JID.exec(given)?.[1]
  const digits = lid ?? ofJid ?? given
  if (isUserIdChatId(digits)) return { kind: 'person', digits, forms: [digits] }
  const reading = readPhoneNumber(ofJid === undefined ? given : `+${ofJid}`, defaultCountry)
  return reading.possible ? { kind: 'person', digits: reading.digits, forms: reading.forms } : null
}

/** The addresses under which the one whom a number names may be known as a contact. */
export function addressesOf(number: GatewayNumber): readonly string[] {
  return number.kind === 'person' ? number.forms : [`user:${number.jid}`, userIdChatId(number.jid)]
}
