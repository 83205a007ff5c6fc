import { asObjects, type JsonObject } from '../../../lib/text/json.js'

/**
 * The value of a change that reports what was written on the phone of the business number, as if it had been received:
 * the contact who got a message stands in the place of its sender.
 */
export function asReceived(value: JsonObject): JsonObject {
  const messages = asObjects(value.message_echoes).map(({ to, to_user_id, to_parent_user_id, ...echo }) => ({
    ...echo,
    from: to,
    from_user_id: to_user_id,
    from_parent_user_id: to_parent_user_id,
  }))
  return { contacts: value.contacts, messages }
}
