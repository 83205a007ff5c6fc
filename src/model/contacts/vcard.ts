import type { ContactCard } from '../messages/content.js'
import { readDigits } from './written-number.js'

/** The card as a vCard 3.0 (RFC 2426); with `waid`, the network recognizes a number that can be messaged. */
export function toVcard({ name, phones, organization, email, url }: ContactCard): string {
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `N:${escapeText(name.last_name ?? '')};${escapeText(name.first_name)};;;`,
    `FN:${escapeText(name.formatted_name)}`,
    ...optional('ORG', organization),
    ...optional('EMAIL', email),
    ...optional('URL', url),
    ...phones.map(toPhoneLine),
    'END:VCARD',
  ]
  return lines.join('\r\n')
}

function toPhoneLine({ phone, type, wa_id }: ContactCard['phones'][number]): string {
  const digits = wa_id?.replace(/\D/g, '') || readDigits(phone)
  const waid = digits === null ? '' : `;waid=${digits}`
  return `TEL;type=${toToken(type)}${waid}:${escapeText(phone)}`
}

/** A parameter must be a plain name. */
function toToken(type: string | null): string {
  const name = (type ?? '').toUpperCase().replace(/[^A-Z-]/g, '')
  return name === '' ? 'CELL' : name
}

function optional(property: string, value: string | null | undefined): string[] {
  return value === null || value === undefined || value === '' ? [] : [`${property}:${escapeText(value)}`]
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\r\n|\r|\n/g, '\\n')
}
