import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'

/** The name of a contact, else its number, else its WhatsApp id. */
export function nameOf({ full_name, phone_number, user_id, chat_id }: Named): string {
  return full_name?.trim() || phone_number || user_id || chat_id
}

type Named = Pick<InboxContact, 'full_name' | 'phone_number' | 'user_id' | 'chat_id'>
