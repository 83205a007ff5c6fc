import { asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import type { Preference } from '../../contacts/preferences.js'
import { createSenderFinder } from './read-sender.js'

/** A preference that a callback reports, with its time as it came. */
export type ReportedPreference = Preference & { timestamp: unknown }

const MAX_WORDS = 1_000

/** Reads what people prefer; preferences about anything but marketing messages, and unknown ones, are skipped. */
export function readPreferences(value: JsonObject, others: JsonObject[]): ReportedPreference[] {
  const given = asObjects(value.user_preferences).map((one) => ({
    ...one,
    from: one.wa_id,
    from_user_id: one.user_id,
  }))
  const findPerson = createSenderFinder({ contacts: value.contacts, messages: given }, others)
  return given.flatMap((preference: JsonObject) => {
    const { category, value: wish, detail, timestamp } = preference
    if (category !== 'marketing_messages' || (wish !== 'stop' && wish !== 'resume')) return []
    const { waId, userId, name } = findPerson(preference)
    if (waId === null && userId === null) return []
    const text = asText(detail)
    const words = text && beginningOf(text, MAX_WORDS)
    return [{ person: { waId, userId }, profileName: name, wish, words, timestamp }]
  })
}
