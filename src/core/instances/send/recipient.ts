import { excerpt } from '../../../lib/text/text.js'
import { userIdChatId } from '../../../model/contacts/phone-number.js'
import { type GatewayNumber, readGatewayNumber } from '../../../model/instances/gateway-number.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import type { ContactNumber } from '../../contacts/contacts.js'

export interface GatewayRecipient extends ContactNumber {
  kind: GatewayNumber['kind']
  /** The text that the client gave. */
  given: string
  /** The chat's id on the network. */
  jid: string
}

/** Reads a recipient in the gateway's notation; `field` is its name in errors. Throws invalid_field. */
export function readRecipient({ default_country }: Organization, field: string, value: string): GatewayRecipient {
  const number = readGatewayNumber(value, default_country)
  if (number === null) {
    throw new Problem(
      'invalid_field',
      `${field} "${excerpt(value)}" is not a number: give digits with the country code, such as 5511999990000, or a group's id`,
    )
  }
  const { kind } = number
  if (kind === 'person') return { ...number, given: value, jid: `${number.digits}@s.whatsapp.net` }
  const { jid } = number
  const chatId = userIdChatId(jid)
  return { kind, given: value, jid, digits: chatId, forms: [`user:${jid}`, chatId] }
}
