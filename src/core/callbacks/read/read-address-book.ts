import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import type { KnownName } from '../../contacts/known-names.js'
import { readPerson } from './read-sender.js'

const MAX_NAME = 200

/**
 * Reads who is in the address book of the phone of the business number. Removed entries are skipped: that the phone has
 * no name for somebody says nothing about the contact here.
 */
export function readAddressBook(value: JsonObject): (KnownName & { timestamp: unknown })[] {
  return asObjects(value.state_sync).flatMap(({ type, action, contact, metadata }) => {
    if (type !== 'contact' || action !== 'add') return []
    const { full_name, first_name, phone_number, user_id } = asObject(contact)
    const name = beginningOf((asText(full_name) ?? asText(first_name) ?? '').trim(), MAX_NAME)
    const person = readPerson(phone_number, user_id)
    const isUnknown = person.waId === null && person.userId === null
    return name === '' || isUnknown ? [] : [{ person, name, timestamp: asObject(metadata).timestamp }]
  })
}
