import { asText } from '../../lib/text/json.js'
import type { BusinessNumber, Connection } from '../connection.js'
import { type Asked, ask, objectPath, post } from './ask.js'

/** What the phone of a number that it shares with the phone app has: its address book, and its messages. */
export type PhoneData = 'smb_app_state_sync' | 'history'

/** Asks for what the phone of a number has, which comes in callbacks. Possible once after the number was connected. */
export function requestPhoneData(
  connection: Connection,
  number: BusinessNumber,
  type: PhoneData,
  timeoutMs: number,
): Promise<Asked<{ requestId: string }>> {
  const body = { messaging_product: 'whatsapp', sync_type: type }
  const question = { access: number, ...post(`${objectPath(number.phoneNumberId)}/smb_app_data`, body) }
  return ask(connection, question, timeoutMs, ({ request_id }) => {
    const requestId = asText(request_id)
    return requestId === null ? null : { requestId }
  })
}
