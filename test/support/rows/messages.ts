import { onlyRow, readRows, type Tables, type Where } from './read.js'

/** A message's row. */
export interface MessageRow {
  organization_id: string
  id: string
  contact_id: string
  /** Null: a reaction, an edit or a revocation. */
  seq: number | null
  upstream_id: string | null
  sender_type: string
  message_type: string
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into content of every shape
  content: any
  media_id: string | null
  status: string
  outcome: string | null
  broadcast_id: string | null
}

/** The messages with these values, by contact and number. */
export function messageRows(world: Tables, where: Where<MessageRow> = {}): Promise<MessageRow[]> {
  return readRows<MessageRow>(world, 'messages', 'contact_id, seq, recorded_at, id', where)
}

/** The one message with these values. Throws if there is none, or another one. */
export async function messageRow(world: Tables, where: Where<MessageRow>): Promise<MessageRow> {
  return onlyRow(await messageRows(world, where))
}

/** The id under which the message with this upstream id was recorded. */
export async function messageIdOf(world: Tables, upstream_id: string): Promise<string> {
  return (await messageRow(world, { upstream_id })).id
}
