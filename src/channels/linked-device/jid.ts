import type { Recipient } from '../driver.js'

const PERSON = '@s.whatsapp.net'

/** A person or group as the network addresses it: without the device, old spellings made new. */
export function normalizeJid(jid: string): string {
  const [name = '', server = ''] = jid.split('@')
  const [user = ''] = name.split(':')
  const [plain = ''] = user.split('_')
  if (server === 'c.us' || server === 'hosted') return `${plain}${PERSON}`
  return `${plain}@${server === 'hosted.lid' ? 'lid' : server}`
}

/** The address of what a user gave: an address already, or the digits of a number. */
export function toJid(text: string): string {
  return text.includes('@') ? normalizeJid(text) : `${text.replace(/\D/g, '')}${PERSON}`
}

export function recipientJid(recipient: Recipient): string {
  return toJid('phone' in recipient ? recipient.phone : recipient.userId)
}

export function isGroup(jid: string): boolean {
  return jid.endsWith('@g.us')
}

/** Who hides the number behind an id of the network. */
export function isLid(jid: string): boolean {
  return /@(hosted\.)?lid$/.test(jid)
}

export function isPerson(jid: string): boolean {
  return /@(s\.whatsapp\.net|c\.us|hosted)$/.test(jid)
}

/** The digits of a person's number; null for whatever shows none. */
export function phoneOf(jid: string): string | null {
  const [digits = ''] = normalizeJid(jid).split('@')
  return isPerson(jid) && /^[1-9]\d{0,19}$/.test(digits) ? digits : null
}

/** Whose messages are conversations: people and groups; neither status posts, channels nor broadcast lists. */
export function isChat(jid: string): boolean {
  return isPerson(jid) || isLid(jid) || isGroup(jid)
}
