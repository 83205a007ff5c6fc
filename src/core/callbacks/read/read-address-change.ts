import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import type { AddressChange } from '../../contacts/resolution/address-change.js'
import { readDigits, readId, readPerson } from './read-sender.js'

/**
 * Reads a system message about a new number or user id; null for other messages, and if the old or the new address is
 * missing. The new number is in `new_wa_id` or `wa_id`; `from` is the old number in some callbacks and the new one in
 * others.
 */
export function readAddressChange(message: JsonObject): AddressChange | null {
  const system = asObject(message.system)
  if (!/_changed_(number|user_id)$/.test(asText(system.type) ?? '')) return null
  const announced = readAnnouncement(system.body)
  const sender = readPerson(message.from, message.from_user_id)
  const named = readPerson(system.wa_id, currentOf(system.user_id) ?? message.user_id)
  const waId = readDigits(system.new_wa_id) ?? readDigits(message.new_wa_id) ?? named.waId ?? readDigits(message.wa_id)
  const userId = readId(system.new_user_id) ?? named.userId
  const to = { waId, userId }
  const from = {
    waId: firstOther(waId, [
      readDigits(system.previous_wa_id),
      readDigits(system.old_wa_id),
      sender.waId,
      readDigits(system.customer),
      named.waId,
      readDigits(message.wa_id),
      announced.current !== null && announced.current === waId ? readDigits(announced.previous) : null,
    ]),
    userId: firstOther(userId, [
      readId(system.previous_user_id),
      readId(asObject(system.user_id).previous),
      announced.current !== null && announced.current === userId ? readId(announced.previous) : null,
      sender.userId,
    ]),
  }
  const isEmpty = [from, to].some((person) => person.waId === null && person.userId === null)
  return isEmpty ? null : { from, to, parentUserId: readId(currentOf(system.parent_user_id)) }
}

/** A change of user id that a callback reports in `user_id_update`, as `{previous, current}`. */
export interface UserIdUpdate extends AddressChange {
  timestamp: unknown
}

export function readUserIdUpdates(value: JsonObject): UserIdUpdate[] {
  const { user_id_update: updates } = value
  const list = isJsonObject(updates) ? [updates] : asObjects(updates)
  return list.flatMap((update) => {
    const ids = asObject(update.user_id)
    const current = readId(ids.current) ?? readId(update.current)
    const previous = readId(ids.previous) ?? readId(update.previous)
    const to = readPerson(update.wa_id, current)
    if (to.userId === null || previous === null || previous === to.userId) return []
    const parentUserId = readId(currentOf(update.parent_user_id))
    return [{ from: { waId: null, userId: previous }, to, parentUserId, timestamp: update.timestamp }]
  })
}

function currentOf(userId: unknown): unknown {
  return isJsonObject(userId) ? userId.current : userId
}

function firstOther(current: string | null, candidates: (string | null)[]): string | null {
  return candidates.find((one) => one !== null && one !== current) ?? null
}

/** Invisible marks around numbers in bidirectional text. */
const MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Reads both addresses from the text `… changed from A to B`. The name before them is untrusted text. */
function readAnnouncement(body: unknown): { previous: string | null; current: string | null } {
  const text = asText(body)?.slice(-600).replace(MARKS, '').trim() ?? ''
  const [, previous = null, current = null] = /changed from \+?(\S+) to \+?(\S+)$/.exec(text) ?? []
  return { previous, current }
}
