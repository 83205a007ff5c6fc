import type { JsonObject } from '../../src/lib/text/json.js'
import type { Change } from '../../src/upstream/wire.js'
import { invalidField, isProblem, type Problem } from '../control/problems.js'
import { newCallId } from '../ids.js'
import { type BusinessNumber, metadataOf } from '../numbers/business-numbers.js'
import { readSender } from './message.js'

/** A call, as the changes that report it: that it rings, and that it ended. */
export interface SimulatedCall {
  id: string
  changes: Change[]
}

const maxSeconds = 86_400

/**
 * Reads a control body as a call of a person, or of the business with `direction` `outbound`. With `seconds` it was
 * answered.
 */
export function readCall(number: BusinessNumber, body: JsonObject): SimulatedCall | Problem {
  const sender = readSender(body)
  if (isProblem(sender)) return sender
  const { direction = 'inbound', seconds, id = newCallId() } = body
  if (direction !== 'inbound' && direction !== 'outbound') return invalidField('direction must be inbound or outbound')
  if (typeof id !== 'string' || id === '') return invalidField('id must be a string that is not empty')
  const isAnswered = seconds !== undefined
  if (isAnswered && !(Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= maxSeconds)) {
    return invalidField(`seconds must be a whole number from 0 to ${maxSeconds}`)
  }
  const now = Math.floor(Date.now() / 1_000)
  const { from: person, from_user_id: userId } = sender.address
  const isOurs = direction === 'outbound'
  const parties = {
    [isOurs ? 'to' : 'from']: person,
    [isOurs ? 'from' : 'to']: number.display_phone_number,
    ...(userId === undefined ? {} : { [isOurs ? 'to_user_id' : 'from_user_id']: userId }),
  }
  const common = { id, ...parties, direction: isOurs ? 'BUSINESS_INITIATED' : 'USER_INITIATED' }
  const answered = { start_time: String(now), end_time: String(now + Number(seconds)), duration: seconds }
  const end = isAnswered ? { status: 'COMPLETED', ...answered } : { status: 'FAILED' }
  const toChange = (call: JsonObject): Change => ({
    field: 'calls',
    value: {
      messaging_product: 'whatsapp',
      metadata: metadataOf(number),
      contacts: [sender.contact],
      calls: [{ ...common, timestamp: String(now), ...call }],
    },
  })
  const session = { sdp_type: isOurs ? 'answer' : 'offer', sdp: 'v=0\r\n' }
  return { id, changes: [toChange({ event: 'connect', session }), toChange({ event: 'terminate', ...end })] }
}
