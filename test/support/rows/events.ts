import { WHOLE_DATA } from '../../../src/storage/events/message-rows.js'
import type { TestOrganization } from '../world.js'
import type { Tables } from './read.js'

/** An event's row, with the rows that readers add to short ones. */
export interface EventRow {
  organization_id: string
  seq: number
  id: string
  type: string
  contact_id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  data: any
}

/** The organization's events in order; with a type, only those. */
export async function eventsOf(
  { database }: Tables,
  { id }: Pick<TestOrganization, 'id'>,
  type: string | null = null,
): Promise<EventRow[]> {
  const { rows } = await database.pool.query<EventRow>(
    `${SELECT} WHERE e.organization_id = $1 AND ($2::text IS NULL OR e.type = $2) ORDER BY e.transaction_id, e.id`,
    [id, type],
  )
  return rows
}

/** The events of a contact, oldest first. */
export async function eventsOfContact({ database }: Tables, contactId: string): Promise<EventRow[]> {
  const { rows } = await database.pool.query<EventRow>(`${SELECT} WHERE e.contact_id = $1 ORDER BY e.seq`, [contactId])
  return rows
}

/** Has rows written as processes of the version before need them, or as a database has them that none of these uses. */
export async function writeAsBefore({ database }: Tables, isBefore: boolean): Promise<void> {
  await database.pool.query(
    `CREATE OR REPLACE FUNCTION writes_as_1_0() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT ${isBefore} $$`,
  )
}

/** A short event whose message or contact is gone, or that is blank, shows as it is stored. */
const SELECT = `
  SELECT e.organization_id, e.seq, e.id, e.type, e.contact_id, e.created_at,
    CASE WHEN e.data = '{}' THEN e.data ELSE coalesce(${WHOLE_DATA}, e.data) END AS data
  FROM events e`
