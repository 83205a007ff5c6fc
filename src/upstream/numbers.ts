import { errorMessage } from '../lib/text/error-message.js'
import { type Answer, bareStatusText, readId } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'

/** Whether an access token can read a business number. */
export type FindNumberOutcome =
  | { outcome: 'found' }
  /**
   * `number`: there is no such number for this token. `code` is the upstream's, or the HTTP status if there is none.
   */
  | { outcome: 'refused'; because: 'number' | 'credentials'; code: number; text: string }
  | { outcome: 'failed'; text: string }

/** Only numbers have this field, so the upstream refuses the ids of other objects. */
const FIELD_OF_NUMBERS = 'display_phone_number'

/** Reads a business number with its access token, waiting at most `timeoutMs`. Never throws. */
export async function findNumber(
  connection: Connection,
  number: BusinessNumber,
  timeoutMs: number,
): Promise<FindNumberOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}?fields=${FIELD_OF_NUMBERS}`
  try {
    return toOutcome(await makeCall(connection, number, { method: 'GET', path }, timeoutMs), number.phoneNumberId)
  } catch (error) {
    return { outcome: 'failed', text: `no answer: ${errorMessage(error)}` }
  }
}

function toOutcome({ status, isSuccess, body, error }: Answer, phoneNumberId: string): FindNumberOutcome {
  if (isSuccess && readId(body?.id) === phoneNumberId) return { outcome: 'found' }
  if (error) {
    const { code, kind, text } = error
    if (kind === 'credentials') return { outcome: 'refused', because: 'credentials', code, text }
    const mayPass = kind === 'limited' || kind === 'busy' || status >= 500
    return mayPass ? { outcome: 'failed', text } : { outcome: 'refused', because: 'number', code, text }
  }
  const text = isSuccess ? `HTTP ${status} without the number's id` : bareStatusText(status)
  if (status === 401 || status === 403) return { outcome: 'refused', because: 'credentials', code: status, text }
  return { outcome: 'failed', text }
}
