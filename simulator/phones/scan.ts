import type { JsonObject } from '../../src/lib/text/json.js'
import type { ConnectionChange, ConnectionValue } from '../../src/upstream/wire.js'
import { firstAttempt } from '../callbacks/first-attempt.js'
import type { Context } from '../context.js'
import { type Answer, readRepeat } from '../control/answer.js'
import { invalidField, isProblem, type Problem, problem } from '../control/problems.js'
import { metadataOf } from '../numbers/business-numbers.js'
import { generatedNumber } from './codes.js'
import { linked, notOpen, type Phone, readOwner, unlinked } from './phone.js'

/** The network's code for a device that was unlinked on the phone. */
const loggedOut = 401

/** Scans the code, or unlinks the phone, as its owner would. Responds after the service was notified. */
export async function scan(phone: Phone, body: JsonObject, context: Context): Promise<Answer> {
  const { action = 'link' } = body
  if (action !== 'link' && action !== 'unlink') return invalidField('action must be link or unlink')
  const owner = readOwner(body)
  if (isProblem(owner)) return owner
  const repeat = readRepeat(body)
  if (typeof repeat !== 'boolean') return repeat
  const complaint = action === 'link' ? scanProblem(phone) : unlinkProblem(phone)
  if (complaint) return complaint
  const connection = action === 'link' ? link(phone, owner) : unlink(phone)
  const attempt = await reportConnection(context, phone, connection, repeat)
  const { organization_id, instance, phone_number_id, state, number, name } = phone
  return { success: true, organization_id, instance, phone_number_id, state, number, name, ...attempt }
}

function scanProblem({ instance, state }: Phone): Problem | null {
  if (state === 'connecting') return null
  const reason =
    state === 'open'
      ? 'it is linked already; unlink it first (action "unlink")'
      : `connect it first (GET /gateway/instance/connect/${instance})`
  return problem(409, 'No code to scan', `The instance ${instance} shows no code: ${reason}`)
}

function unlinkProblem(phone: Phone): Problem | null {
  return phone.state === 'open' ? null : notOpen(phone)
}

type Connection = ConnectionValue['connection']

/**
 * Links under the given number, else under the one for which the code was requested, else under the phone's default
 * one.
 */
function link(phone: Phone, { number, name }: { number: string | null; name: string | null }): Connection {
  const owner = number ?? phone.pairing_number ?? generatedNumber(phone.phone_number_id)
  Object.assign(phone, linked(owner, name))
  return { state: 'open', number: owner, ...(name === null ? {} : { name }) }
}

function unlink(phone: Phone): Connection {
  Object.assign(phone, unlinked)
  return { state: 'close', code: loggedOut }
}

function reportConnection(
  context: Context,
  { phone_number_id: id, number }: Phone,
  connection: Connection,
  repeat: boolean,
) {
  const registered = context.numbers.get(id)
  if (!registered) throw new Error(`The phone ${id} has no registration`)
  if (number !== null) registered.display_phone_number = number
  const value: ConnectionValue = { messaging_product: 'whatsapp', metadata: metadataOf(registered), connection }
  const change: ConnectionChange = { field: 'connection', value }
  return firstAttempt(context, id, { kind: 'change', change }, repeat)
}
