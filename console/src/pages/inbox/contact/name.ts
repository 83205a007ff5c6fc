import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'

/** What a contact is called: its name, else its number, else what the network calls it. */
export function nameOf({ full_name, phone_number, chat_id }: Named): string {
  return full_name?.trim() || phone_number || chat_id
}

type Named = Pick<InboxContact, 'full_name' | 'phone_number' | 'chat_id'>
