import { onlyRow, readRows, type Tables, type Where } from './read.js'

/** A contact's row. */
export interface ContactRow {
  organization_id: string
  id: string
  chat_id: string
  phone_number: string | null
  network_id: string | null
  full_name: string | null
  assignee_id: string | null
  allow_broadcast: boolean
  opted_out_at: Date | null
  opt_out_source: string | null
  consent_words: string | null
  last_seq: number
  searchable_seq: number
}

/** The contacts with these values, oldest first. */
export function contactRows(world: Tables, where: Where<ContactRow>): Promise<ContactRow[]> {
  return readRows<ContactRow>(world, 'contacts', 'id', where)
}

/** The one contact with these values. Throws if there is none, or another one. */
export async function contactRow(world: Tables, where: Where<ContactRow>): Promise<ContactRow> {
  return onlyRow(await contactRows(world, where))
}
