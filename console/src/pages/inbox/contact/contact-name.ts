import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'

/** The name of a contact, else its username with @, its number, or its WhatsApp id. */
export function nameOf({ full_name, username, phone_number, user_id, chat_id }: Named): string {
  return full_name?.trim() || (username && `@${username}`) || phone_number || user_id || chat_id
}

type Named = Pick<InboxContact, 'full_name' | 'username' | 'phone_number' | 'user_id' | 'chat_id'>
