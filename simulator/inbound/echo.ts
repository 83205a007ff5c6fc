import type { JsonObject } from '../../src/lib/text/json.js'
import type { Change } from '../../src/upstream/wire.js'
import { missingField, type Problem } from '../control/problems.js'
import { type BusinessNumber, metadataOf } from '../numbers/business-numbers.js'
import { type Inbound, readInbound } from './message.js'

/** Reads a control body as a message that was written on the phone of a business number: as an inbound one, with `to`. */
export function readEcho({ to, ...body }: JsonObject): Inbound | Problem {
  if (to === undefined && body.user_id === undefined) return missingField('to')
  return readInbound({ ...body, from: to })
}

/** Builds the change that reports it. */
export function echoChange(number: BusinessNumber, { message, contact }: Inbound): Change {
  const { from: to, from_user_id: toUserId, ...rest } = message
  const recipient = { ...(to === undefined ? {} : { to }), ...(toUserId === undefined ? {} : { to_user_id: toUserId }) }
  return {
    field: 'smb_message_echoes',
    value: {
      messaging_product: 'whatsapp',
      metadata: metadataOf(number),
      ...(contact ? { contacts: [contact] } : {}),
      message_echoes: [{ from: number.display_phone_number, ...recipient, ...rest }],
    },
  }
}
