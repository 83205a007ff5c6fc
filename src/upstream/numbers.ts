import { type Answer, bareStatusText, readId } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'

/** Whether an access token opens a business number; asking again is harmless. */
export type FindNumberOutcome =
  | { outcome: 'found' }
  /** `number`: to this token there is no such number. `code` is the upstream's, or the HTTP status where its answer has none. */
  | { outcome: 'refused'; because: 'number' | 'credentials'; code: number; text: string }
  | { outcome: 'failed'; text: string }

/** A field that numbers have and no other objects: asked for it, the upstream refuses the ids of those. */
const FIELD_OF_NUMBERS = 'display_phone_number'

/** Asks for a business number with its access token; gives up after `timeoutMs`. Never throws. */
export async function findNumber(
  connection: Connection,
  number: BusinessNumber,
  timeoutMs: number,
): Promise<FindNumberOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}?fields=${FIELD_OF_NUMBERS}`
  try {
    return toOutcome(await makeCall(connection, number, { method: 'GET', path }, timeoutMs), number.phoneNumberId)
  } catch (error) {
    return { outcome: 'failed', text: `no answer: ${error instanceof Error ? error.message : String(error)}` }
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
