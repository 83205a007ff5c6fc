import { toIso } from '../contacts/contact.js'

/** A note as its row is stored; in events the date is an ISO string. */
export interface NoteRow {
  organization_id: string
  id: string
  contact_id: string
  /** The note stands below the message with this number; 0: above all. */
  after_seq: number
  /** Null: the author has left the team. */
  member_id: string | null
  text: string
  created_at: Date | string
}

/** The note as the thread shows it. */
export function presentNote({ id, contact_id, after_seq, text, member_id, created_at }: NoteRow) {
  return { id, contact_id, after_seq, text, member_id, created_at: toIso(created_at) }
}

export type Note = ReturnType<typeof presentNote>
