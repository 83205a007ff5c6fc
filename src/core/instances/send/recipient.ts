import type { Context } from '../../../context.js'
import { excerpt } from '../../../lib/text/text.js'
import { type ContactNumber, readNumber } from '../../../model/contacts/written-number.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { notNumber, settleReadings } from '../../contacts/numbers.js'

export interface GatewayRecipient extends ContactNumber {
  /** The text that the client gave. */
  given: string
}

/** Reads a recipient in the gateway's notation; `field` is its name in errors. Throws invalid_field. */
export async function readRecipient(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  field: string,
  value: string,
): Promise<GatewayRecipient> {
  const reading = readNumber(value, organization.default_country, 'international')
  const [number] = await settleReadings(ctx.database, organization, [reading])
  if (number) return { ...number, given: value }
  if (reading.isRounded) throw notNumber({ name: field, value }, reading, 'body')
  throw new Problem(
    'invalid_field',
    `${field} "${excerpt(value)}" is not a number: give digits with the country code, such as 5511999990000, or a group's id`,
  )
}
