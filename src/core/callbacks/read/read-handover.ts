import { sha256 } from '../../../lib/crypto/signature.js'
import { asObject, asText, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import { readTimestamp } from '../../../lib/text/timestamp.js'
import type { Handover } from '../../../model/messages/handover.js'
import type { UpstreamPerson } from '../../contacts/resolution/resolve-contact.js'
import { readPerson } from './read-sender.js'

/** A hand-over of the conversation with a person. */
export interface ReportedHandover {
  id: string
  person: UpstreamPerson
  handover: Handover
  /** As it came. */
  timestamp: unknown
}

const MAX_ID = 512
const MAX_ROLE = 64
const MAX_TEXT = 2_000

/** Reads a change of the field `messaging_handovers`; null if it does not name the person, as some do not. */
export function readHandover(value: JsonObject): ReportedHandover | null {
  const { type, timestamp } = value
  if (type !== 'control_passed' && type !== 'control_taken') return null
  const sender = asObject(value.sender)
  const person = readPerson(sender.phone_number, sender.user_id)
  const address = person.waId ?? person.userId
  if (address === null) return null
  const control = asObject(value[type])
  const handover: Handover = {
    holder: type === 'control_passed' ? 'us' : 'other',
    previous_role: readText(control.previous_owner_role, MAX_ROLE),
    new_role: readText(control.new_owner_role, MAX_ROLE),
    note: readText(control.metadata, MAX_TEXT),
    summary: readText(asObject(asObject(control.conversation_context).summary).text, MAX_TEXT),
  }
  // Hand-overs have no id of their own.
  const moment = readTimestamp(timestamp)?.getTime() ?? sha256(JSON.stringify(value)).toString('hex')
  const id = beginningOf(`handover:${type}:${moment}:${address}`, MAX_ID)
  return { id, person, handover, timestamp }
}

function readText(value: unknown, length: number): string | null {
  const text = asText(value)
  return text && beginningOf(text, length)
}
