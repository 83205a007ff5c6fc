import { requestIndexing } from '../../src/storage/conversations/search.js'
import type { Answer, TestOrganization, World } from './world.js'

/** Sends `GET /conversations` as the organization. */
export function readConversations(
  { request }: Pick<World, 'request'>,
  organization: Pick<TestOrganization, 'key'>,
  query: Record<string, string>,
): Promise<Answer> {
  return request('GET', `/conversations?${new URLSearchParams(query)}`, { key: organization.key })
}

/** The messages of a conversation as Interface A returns them, oldest first. */
export async function conversation(world: World, organization: TestOrganization, chatNumber: string): Promise<Answer> {
  const query = new URLSearchParams({ chatNumber, ascending: 'true', limit: '100' })
  return world.request('GET', `/conversations?${query}`, { key: organization.key })
}

/** The texts of the messages in an answer, in order. */
export function textsOf({ body }: Answer): string[] {
  return body.messages.map((message: { message: string }) => message.message)
}

/** Appends thousands of messages to a conversation by SQL. Resolves to their upstream ids. */
export async function insertMessages(
  { database }: Pick<World, 'database'>,
  contactId: string,
  texts: readonly string[],
): Promise<string[]> {
  const { rows } = await database.pool.query<{ upstream_id: string }>(
    `WITH numbered AS (
       UPDATE contacts SET last_seq = last_seq + cardinality($2::text[]) WHERE id = $1
       RETURNING organization_id, id, last_seq - cardinality($2::text[]) AS seq
     ), inserted AS (
       INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, status,
         created_at, gateway_type)
       SELECT c.organization_id, gen_random_uuid(), c.id, c.seq + n, 'wamid.SQL' || gen_random_uuid(), 'user-chat', 'text', text,
         'delivered', now(), 'conversation'
       FROM numbered c, unnest($2::text[]) WITH ORDINALITY AS given (text, n)
       RETURNING seq, upstream_id
     )
     SELECT upstream_id FROM inserted ORDER BY seq`,
    [contactId, texts],
  )
  return rows.map((row) => row.upstream_id)
}

/** Assigns messages of a contact (`seqs`: their numbers; default all) to an instance, including its counts. */
export async function moveToInstance(
  { database }: Pick<World, 'database'>,
  contactId: string,
  instanceId: string,
  seqs: readonly number[] | null = null,
): Promise<void> {
  await database.pool.query(
    `WITH old AS (
       SELECT organization_id, id, instance_id FROM messages
       WHERE contact_id = $1 AND seq IS NOT NULL AND ($3::bigint[] IS NULL OR seq = ANY ($3))
     ), moved AS (
       UPDATE messages m SET instance_id = $2 FROM old WHERE m.organization_id = old.organization_id AND m.id = old.id
     )
     INSERT INTO line_counts (organization_id, instance_id, change)
     SELECT organization_id, line, sum(change)
     FROM old CROSS JOIN LATERAL (VALUES (old.instance_id, -1), ($2::uuid, 1)) AS counted (line, change)
     WHERE line IS NOT NULL
     GROUP BY organization_id, line`,
    [contactId, instanceId, seqs],
  )
}

/** A conversation in a test: its contact's id and numbers. */
export async function stateOf({ database }: Pick<World, 'database'>, contactId: string) {
  const { rows } = await database.pool.query<{ last_seq: number; searchable_seq: number }>(
    'SELECT last_seq, searchable_seq FROM contacts WHERE id = $1',
    [contactId],
  )
  return rows[0] ?? null
}

/** Adds the index jobs for all conversations of an organization. */
export async function requestIndexes({ database }: Pick<World, 'database'>, organizationId: string): Promise<void> {
  const { rows } = await database.pool.query('SELECT id FROM contacts WHERE organization_id = $1', [organizationId])
  for (const { id } of rows) await requestIndexing(database, organizationId, id)
}
