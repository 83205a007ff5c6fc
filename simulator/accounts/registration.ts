import { type Refusal, refusals } from '../errors/refusals.js'
import { type AccountCall, openNumber } from './call.js'

const hourMs = 3_600_000
const windowMs = 72 * hourMs
const deletionMs = 5 * 60_000
const maxRegistrations = 10
const maxWrongPins = 3

/** Registers a number with its PIN, or sets the PIN if there is none. Each call counts against the limit. */
export function registerNumber({ world, caller, method, id, body }: AccountCall): object | Refusal {
  const number = openNumber(world, caller, { method, id })
  if ('body' in number) return number
  const { messaging_product: product, pin } = body
  if (product !== 'whatsapp') return refusals.invalidParameter('The parameter messaging_product is required.')
  if (typeof pin !== 'string' || !/^\d{6}$/.test(pin)) {
    return refusals.invalidParameter('Param pin must be a string of 6 digits.')
  }
  const now = Date.now()
  number.registrations = number.registrations.filter((at) => at > now - windowMs)
  if (number.registrations.length >= maxRegistrations) return refusals.tooManyRegistrations()
  number.registrations.push(now)
  if (number.deleted_at !== null && now - number.deleted_at < deletionMs) return refusals.deletedLately()
  if (number.pin_refusal !== null) return refusals.pinRefused(number.pin_refusal)
  if (number.wrong_pins >= maxWrongPins) return refusals.mustVerifyAgain()
  if (number.pin !== null && number.pin !== pin) {
    number.wrong_pins += 1
    return refusals.wrongPin()
  }
  if (number.name_status === 'PENDING_REVIEW') return refusals.nameNotProcessed()
  Object.assign(number, { pin, wrong_pins: 0, status: 'CONNECTED', new_name_status: 'NONE' })
  return { success: true }
}
