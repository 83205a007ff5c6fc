import type { Recipient } from '../../driver.js'

const PERSON = '@s.whatsapp.net'

/** The canonical address of a person or group: without the device part, in the current spelling. */
export function normalizeJid(jid: string): string {
  const [name = '', server = ''] = jid.split('@')
  const [user = ''] = name.split(':')
  const [plain = ''] = user.split('_')
  if (server === 'c.us' || server === 'hosted') return `${plain}${PERSON}`
  return `${plain}@${server === 'hosted.lid' ? 'lid' : server}`
}

/** Converts user input, an address or the digits of a number, to an address. */
export function toJid(text: string): string {
  return text.includes('@') ? normalizeJid(text) : `${text.replace(/\D/g, '')}${PERSON}`
}

export function recipientJid(recipient: Recipient): string {
  if ('group' in recipient) return toJid(`${recipient.group}@g.us`)
  return toJid('phone' in recipient ? recipient.phone : recipient.userId)
}

export function isGroup(jid: string): boolean {
  return jid.endsWith('@g.us')
}

/** True for a person who hides the number behind an id. */
export function isLid(jid: string): boolean {
  return /@(hosted\.)?lid$/.test(jid)
}

export function isPerson(jid: string): boolean {
  return /@(s\.whatsapp\.net|c\.us|hosted)$/.test(jid)
}

/** The digits of a person's number; null if the address has none. */
export function phoneOf(jid: string): string | null {
  const [digits = ''] = normalizeJid(jid).split('@')
  return isPerson(jid) && /^[1-9]\d{0,19}$/.test(digits) ? digits : null
}

/** True for people and groups; false for status posts, channels and broadcast lists. */
export function isChat(jid: string): boolean {
  return isPerson(jid) || isLid(jid) || isGroup(jid)
}
