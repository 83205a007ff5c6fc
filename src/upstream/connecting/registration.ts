import type { BusinessNumber, Connection } from '../connection.js'
import { type Asked, ask, objectPath, post } from './ask.js'

/** Registers a number with the PIN of its two-step verification, which it sets if there is none. */
export function registerNumber(
  connection: Connection,
  number: BusinessNumber,
  pin: string,
  timeoutMs: number,
): Promise<Asked<object>> {
  const body = { messaging_product: 'whatsapp', pin }
  const question = { access: number, ...post(`${objectPath(number.phoneNumberId)}/register`, body) }
  return ask(connection, question, timeoutMs, ({ success }) => (success === true ? {} : null))
}
