import type { Context } from '../context.js'
import { type Problem, problem } from '../control/problems.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { type AccountCall, openNumber } from './call.js'

const types = ['smb_app_state_sync', 'history']
let requests = 0

/** Asks for the address book or the history of the phone of a number; possible once each. */
export function askForPhoneData({ world, caller, method, id, body }: AccountCall): object | Refusal {
  const number = openNumber(world, caller, { method, id })
  if ('body' in number) return number
  const { messaging_product: product, sync_type: type } = body
  if (product !== 'whatsapp') return refusals.invalidParameter('The parameter messaging_product is required.')
  if (typeof type !== 'string' || !types.includes(type)) {
    return refusals.invalidParameter(`Param sync_type must be one of {${types.join(', ').toUpperCase()}}.`)
  }
  if (!number.is_on_biz_app) return refusals.invalidParameter('The number is not used in the phone app.')
  if (number.phone_data.includes(type)) return refusals.invalidParameter('The synchronization was requested before.')
  number.phone_data.push(type)
  return { messaging_product: 'whatsapp', request_id: `sync-${id}-${++requests}` }
}

/** The problem of a report that the upstream makes only after it was asked for; null: it was, or the number is simple. */
export function refuseUnasked({ world }: Context, phoneNumberId: string, type: string): Problem | null {
  const number = world.numbers.get(phoneNumberId)
  if (!number?.is_on_biz_app || !types.includes(type) || number.phone_data.includes(type)) return null
  return problem(
    409,
    'Not asked for',
    `Nobody has asked for ${type} of ${phoneNumberId}: POST /${phoneNumberId}/smb_app_data`,
  )
}
