import type { Queryable } from '../../database/pool.js'
import { ofOrganization, type Statement, sharedStatement, statement } from '../../database/statement.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import type { JobTask } from '../../model/jobs.js'
import { MESSAGE_OF_EVENT } from '../events/message-rows.js'
import { TABLES_OF_ORGANIZATIONS } from './organization-deletion.js'

// Each statement compares rows in its own snapshot. Rows that belong together are written in one transaction, so a
// running service shows no difference. A walk reads a table of one organization page by page, in the order of its key.

/** A row that breaks an invariant, in words for an operator. */
export interface Violation {
  kind: ViolationKind
  /** The table and the key within the organization. */
  row: string
  expected: string
  found: string
}

/** What is checked in the database. */
export type ViolationKind =
  | 'conversation_numbers'
  | 'contact_list'
  | 'contact_count'
  | 'channel_count'
  | 'campaign_count'
  | 'missing_row'
  | 'missing_file'
  | 'file_size'
  | 'event_order'
  | 'no_organization'

/** A file that a message shows. */
export interface ShownFile {
  id: string
  /** In bytes, by its row. */
  size: number
}

/** What a page of a walk showed. */
export interface VerifiedPage {
  /** How many rows of the table it had; fewer than asked for: it was the last. */
  walked: number
  /** The key of its last row; null: it had none. */
  reached: string | null
  /** How many rows were read for it. */
  rows: number
  violations: Violation[]
  /** Of messages: the files that they show, sorted by their ids. */
  files: ShownFile[]
}

type PageStatement = Statement<VerifiedPage>

/** $1: the organization, $2: the key after which the page begins, $3: its size. */
interface PageParts {
  /** The rows, with `key` as text, in the order of the key. */
  page: string
  /** SELECTs of kind, row, expected and found from `page`. */
  violations: readonly string[]
  /** How many rows were read. */
  rows?: string
  files?: string
}

const pageStatement = (name: string, { page, violations, rows = 'count(*)', files = `'[]'::json` }: PageParts) =>
  statement<VerifiedPage>(
    `verification.${name}`,
    `WITH page AS (${page})
     SELECT (SELECT count(*) FROM page)::int AS walked, (SELECT key FROM page ORDER BY place DESC LIMIT 1) AS reached,
       (SELECT ${rows} FROM page)::float8 AS rows, ${files} AS files,
       (SELECT coalesce(json_agg(v), '[]') FROM (${violations.join('\n UNION ALL\n')}) v (kind, row, expected, found)) AS violations`,
  )

/** SQL: whether a job of the organization $1 removes what an erased contact left; it was enqueued with the erasure. */
const isBeingErased = (task: JobTask, contactId: string) => `EXISTS (
         SELECT FROM jobs j
         WHERE j.organization_id = $1 AND j.task = '${task}' AND j.payload ->> 'contactId' = ${contactId}::text
       )`

// The index of conversations is unique, so as many messages as there are numbers after the deleted ones are without a gap.
const walkContacts = pageStatement('contacts', {
  page: `SELECT c.id::text AS key, row_number() OVER (ORDER BY c.id) AS place, c.pruned_seq, c.last_seq, m.count, m.lowest, m.highest, a.contact_id IS NOT NULL AS is_listed
     FROM (
       SELECT id, pruned_seq, last_seq FROM contacts WHERE organization_id = $1 AND id > $2::text::uuid ORDER BY id LIMIT $3
     ) c CROSS JOIN LATERAL (
       SELECT count(*) AS count, coalesce(min(seq), c.pruned_seq + 1) AS lowest, coalesce(max(seq), c.pruned_seq) AS highest
       FROM messages WHERE organization_id = $1 AND contact_id = c.id AND seq IS NOT NULL
       OFFSET 0
     ) m LEFT JOIN LATERAL (
       SELECT contact_id FROM contact_activity
       WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = c.id
       OFFSET 0
     ) a ON true`,
  rows: 'coalesce(sum(count), 0) + 2 * count(*)',
  violations: [
    `SELECT 'conversation_numbers', 'contacts ' || key, format('messages numbered %s to %s', pruned_seq + 1, last_seq),
       format('%s messages, numbered %s to %s', count, lowest, highest)
     FROM page WHERE count <> last_seq - pruned_seq OR highest <> last_seq OR lowest <> pruned_seq + 1`,
    `SELECT 'contact_list', 'contacts ' || key, 'a row in contact_activity', 'none' FROM page WHERE NOT is_listed`,
  ],
})

const walkMessages = pageStatement('messages', {
  page: `SELECT m.id::text AS key, row_number() OVER (ORDER BY m.id) AS place, m.contact_id,
       c.id IS NOT NULL OR ${isBeingErased('erase_contact', 'm.contact_id')} AS has_contact, m.media_id, f.size,
       m.campaign_id, b.id IS NOT NULL AS has_campaign, m.broadcast_id, m.recipient_n, r.n IS NOT NULL AS has_recipient
     FROM (
       SELECT id, contact_id, media_id, campaign_id, broadcast_id, recipient_n
       FROM messages WHERE organization_id = $1 AND id > $2::text::uuid ORDER BY id LIMIT $3
     ) m LEFT JOIN LATERAL (
       SELECT id FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = m.contact_id OFFSET 0
     ) c ON true LEFT JOIN LATERAL (
       SELECT size FROM media WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = m.media_id OFFSET 0
     ) f ON true LEFT JOIN LATERAL (
       SELECT id FROM broadcasts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = m.campaign_id OFFSET 0
     ) b ON true LEFT JOIN LATERAL (
       SELECT n FROM broadcast_recipients
       WHERE ${ofOrganization('organization_id', '$1::uuid')} AND broadcast_id = m.broadcast_id AND n = m.recipient_n OFFSET 0
     ) r ON true`,
  rows: '2 * count(*) + count(media_id) + count(campaign_id) + count(broadcast_id)',
  files: `(SELECT coalesce(json_agg(json_build_object('id', media_id, 'size', size) ORDER BY media_id), '[]')
           FROM (SELECT DISTINCT media_id, size FROM page WHERE size IS NOT NULL) shown)`,
  violations: [
    `SELECT 'missing_row', 'messages ' || key, format('contacts %s', contact_id), 'none' FROM page WHERE NOT has_contact`,
    `SELECT 'missing_row', 'messages ' || key, format('media %s', media_id), 'none' FROM page WHERE media_id IS NOT NULL AND size IS NULL`,
    `SELECT 'missing_row', 'messages ' || key, format('broadcasts %s', campaign_id), 'none'
     FROM page WHERE campaign_id IS NOT NULL AND NOT has_campaign`,
    `SELECT 'missing_row', 'messages ' || key, format('broadcast_recipients %s %s', broadcast_id, recipient_n), 'none'
     FROM page WHERE broadcast_id IS NOT NULL AND recipient_n IS NOT NULL AND NOT has_recipient`,
  ],
})

// An event of an erased contact keeps the contact's id and is blanked by a job, which was enqueued with the erasure.
// Messages may have been deleted after their retention time; those without a number in the event are not traced then, and
// neither are any if a phone's history has lowered numbers since the events.
// Message events follow the event that shows the message first; a page compares the events that it holds.
const walkEvents = pageStatement('events', {
  page: `SELECT e.seq::text AS key, e.seq AS place, e.contact_id, e.type, e.message_id,
       e.contact_id IS NOT NULL AND NOT e.is_blank AND c.id IS NULL AND NOT ${isBeingErased('erase_traces', 'e.contact_id')}
         AS lacks_contact,
       e.message_id IS NOT NULL AND m.id IS NULL AND c.id IS NOT NULL AND NOT CASE
         WHEN e.message_seq IS NULL THEN c.pruned_seq > 0 OR o.message_retention_days IS NOT NULL
         ELSE e.message_seq <= c.pruned_seq OR (o.message_retention_days IS NOT NULL AND EXISTS (
           SELECT FROM phone_histories WHERE organization_id = $1
         ))
       END AS lacks_message
     FROM (
       SELECT e.seq, e.contact_id, e.type, e.data = '{}' AS is_blank, ${MESSAGE_OF_EVENT} AS message_id,
         (e.data -> 'message' ->> 'seq')::bigint AS message_seq
       FROM events e WHERE e.organization_id = $1 AND e.seq > $2::text::bigint ORDER BY e.seq LIMIT $3
     ) e JOIN kept_organizations o ON o.id = $1 LEFT JOIN LATERAL (
       SELECT id, pruned_seq FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = e.contact_id OFFSET 0
     ) c ON true LEFT JOIN LATERAL (
       SELECT id FROM messages WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = e.message_id OFFSET 0
     ) m ON true`,
  rows: 'count(*) + count(contact_id) + count(message_id)',
  violations: [
    `SELECT 'missing_row', 'events ' || key, format('contacts %s', contact_id), 'none' FROM page WHERE lacks_contact`,
    `SELECT 'missing_row', 'events ' || key, format('messages %s', message_id), 'none' FROM page WHERE lacks_message`,
    `SELECT 'event_order', 'events ' || key, format('a number above that of %s of message %s', first.type, message_id), 'a lower number'
     FROM page JOIN (
       SELECT message_id, type, min(place) AS place FROM page
       WHERE type IN ('message.received', 'message.sent') AND message_id IS NOT NULL
       GROUP BY message_id, type
     ) first USING (message_id)
     WHERE page.place < first.place`,
    `SELECT 'event_order', 'events ' || key, format('at most %s, the last number given', s.last_value), key
     FROM page, events_seq s WHERE page.place > s.last_value`,
  ],
})

/** The key of two columns is written with a space. */
const recipientsAfter = (table: string) => `
     SELECT * FROM ${table}
     WHERE organization_id = $1 AND (broadcast_id, n) > (split_part($2::text, ' ', 1)::uuid, split_part($2::text, ' ', 2)::int)
     ORDER BY broadcast_id, n LIMIT $3`

const walkRecipients = pageStatement('recipients', {
  page: `SELECT format('%s %s', r.broadcast_id, r.n) AS key, row_number() OVER (ORDER BY r.broadcast_id, r.n) AS place,
       r.campaign_id, b.id IS NOT NULL AS has_campaign, r.contact_id,
       c.id IS NOT NULL OR ${isBeingErased('erase_contact', 'r.contact_id')} AS has_contact
     FROM (${recipientsAfter('broadcast_recipients')}) r LEFT JOIN LATERAL (
       SELECT id FROM broadcasts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = r.campaign_id OFFSET 0
     ) b ON true LEFT JOIN LATERAL (
       SELECT id FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = r.contact_id OFFSET 0
     ) c ON true`,
  rows: '2 * count(*) + count(contact_id)',
  violations: [
    `SELECT 'missing_row', 'broadcast_recipients ' || key, format('broadcasts %s', campaign_id), 'none' FROM page WHERE NOT has_campaign`,
    `SELECT 'missing_row', 'broadcast_recipients ' || key, format('contacts %s', contact_id), 'none'
     FROM page WHERE contact_id IS NOT NULL AND NOT has_contact`,
  ],
})

const walkFailures = pageStatement('failures', {
  page: `SELECT format('%s %s', f.broadcast_id, f.n) AS key, row_number() OVER (ORDER BY f.broadcast_id, f.n) AS place, r.n IS NOT NULL AS has_recipient
     FROM (${recipientsAfter('broadcast_failures')}) f LEFT JOIN LATERAL (
       SELECT n FROM broadcast_recipients
       WHERE ${ofOrganization('organization_id', '$1::uuid')} AND broadcast_id = f.broadcast_id AND n = f.n OFFSET 0
     ) r ON true`,
  rows: '2 * count(*)',
  violations: [
    `SELECT 'missing_row', 'broadcast_failures ' || key, 'broadcast_recipients ' || key, 'none' FROM page WHERE NOT has_recipient`,
  ],
})

const compareCounts = statement<Pick<VerifiedPage, 'rows' | 'violations'>>(
  'verification.counts',
  `WITH contact_total AS MATERIALIZED (
     SELECT (SELECT count(*) FROM contacts WHERE organization_id = $1) AS recounted,
       (SELECT coalesce(sum(change), 0) FROM contact_counts WHERE organization_id = $1) AS counted
   ), channels AS MATERIALIZED (
     SELECT instance_id, sum(change) AS counted
     FROM (
       SELECT instance_id, change FROM line_counts WHERE organization_id = $1
       UNION ALL
       SELECT id, 0 FROM instances WHERE organization_id = $1
     ) known
     GROUP BY instance_id
   ), recounted AS MATERIALIZED (
     SELECT c.instance_id, c.counted, m.recounted
     FROM channels c CROSS JOIN LATERAL (
       SELECT count(*) AS recounted FROM messages
       WHERE organization_id = $1 AND instance_id = c.instance_id AND seq IS NOT NULL
       OFFSET 0
     ) m
   )
   SELECT (SELECT recounted FROM contact_total)::float8 + (SELECT coalesce(sum(recounted), 0) FROM recounted)::float8 AS rows, (
     SELECT coalesce(json_agg(v), '[]') FROM (
       SELECT 'contact_count', 'contact_counts', recounted::text, counted::text FROM contact_total WHERE recounted <> counted
       UNION ALL
       SELECT 'channel_count', 'line_counts ' || instance_id, recounted::text, counted::text FROM recounted WHERE recounted <> counted
     ) v (kind, row, expected, found)
   ) AS violations`,
)

const organizationsAfter = sharedStatement<{ id: string; slug: string }>(
  'verification.organizations',
  'SELECT id, slug FROM kept_organizations WHERE id > $1 ORDER BY id LIMIT $2',
)

const stillShown = statement<ShownFile>(
  'verification.stillShown',
  `SELECT f.id, f.size::float8 AS size
   FROM unnest($2::uuid[]) AS wanted (id) JOIN media f ON f.organization_id = $1 AND f.id = wanted.id`,
)

const withoutRow = statement<{ id: string }>(
  'verification.withoutRow',
  `SELECT wanted.id FROM unnest($2::uuid[]) AS wanted (id)
   WHERE NOT EXISTS (SELECT FROM media f WHERE f.organization_id = $1 AND f.id = wanted.id)`,
)

/** Steps from one organization to the next in the index, since each may have millions of rows. */
const strangersIn = (table: string) => ({
  table,
  statement: sharedStatement<{ id: string }>(
    `verification.strangers.${table}`,
    `WITH RECURSIVE present (id) AS (
       (SELECT organization_id FROM ${table} ORDER BY organization_id LIMIT 1)
       UNION ALL
       SELECT (SELECT organization_id FROM ${table} t WHERE t.organization_id > present.id ORDER BY organization_id LIMIT 1)
       FROM present WHERE present.id IS NOT NULL
     )
     SELECT id FROM present
     WHERE id <> '${NIL_UUID}' AND NOT EXISTS (SELECT FROM organization_rows o WHERE o.id = present.id)`,
  ),
})

/** Forgotten by a crash of the server, or older than any request. */
const PASSING = ['rate_limits', 'sending_paces', 'idempotency_keys']

const strangers = [...TABLES_OF_ORGANIZATIONS.filter((table) => !PASSING.includes(table)), 'media', 'jobs'].map(
  strangersIn,
)

/** A table that is read page by page. */
export interface Walk {
  table: 'contacts' | 'messages' | 'events' | 'broadcast_recipients' | 'broadcast_failures'
  first: string
  page: (db: Queryable, organizationId: string, after: string) => Promise<VerifiedPage>
  pageSize: number
}

function walk(table: Walk['table'], statement: PageStatement, first: string, pageSize: number): Walk {
  const page: Walk['page'] = async (db, organizationId, after) => {
    const [read] = await db.run(statement, [organizationId, after, pageSize])
    return read as VerifiedPage
  }
  return { table, first, page, pageSize }
}

/** The walks through the tables of an organization. */
export const walks: readonly Walk[] = [
  walk('contacts', walkContacts, NIL_UUID, 1_000),
  walk('messages', walkMessages, NIL_UUID, 5_000),
  walk('events', walkEvents, '-1', 5_000),
  walk('broadcast_recipients', walkRecipients, `${NIL_UUID} -1`, 5_000),
  walk('broadcast_failures', walkFailures, `${NIL_UUID} -1`, 5_000),
]

/** Compares the counts of contacts and of messages per channel with the rows. */
export async function compareKeptCounts(
  db: Queryable,
  organizationId: string,
): Promise<Pick<VerifiedPage, 'rows' | 'violations'>> {
  const [compared] = await db.run(compareCounts, [organizationId])
  return compared as Pick<VerifiedPage, 'rows' | 'violations'>
}

/** The next organizations in the order of their ids, without deleted ones. */
export function listOrganizationsAfter(
  db: Queryable,
  after: string,
  limit: number,
): Promise<{ id: string; slug: string }[]> {
  return db.run(organizationsAfter, [after, limit])
}

/** Those of the files that have a row by now. */
export function findKeptFiles(db: Queryable, organizationId: string, ids: readonly string[]): Promise<ShownFile[]> {
  return db.run(stillShown, [organizationId, ids])
}

/** Those of the ids that no stored file has. */
export async function findIdsWithoutFile(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db.run(withoutRow, [organizationId, ids])
  return rows.map(({ id }) => id)
}

/** Tables with rows of organizations that do not exist. */
export async function findStrangers(db: Queryable): Promise<Violation[]> {
  const violations: Violation[] = []
  for (const { table, statement } of strangers) {
    for (const { id } of await db.run(statement, [])) {
      violations.push({ kind: 'no_organization', row: table, expected: `organization_rows ${id}`, found: 'none' })
    }
  }
  return violations
}
