import type { Queryable } from '../../database/pool.js'
import { ofOrganization, type Statement, statement } from '../../database/statement.js'
import { LAST_UUID, newId } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { InboxRow } from '../../model/conversations/inbox.js'
import { MEDIA_REMOVED } from '../../model/messages/message.js'
import { QUALIFIED_CONTACT_COLUMNS } from '../contacts/contacts.js'
import { BY_ADDRESS, type ContactSearch, toPatterns } from '../contacts/lists.js'
import { contactEvents, raiseEvents } from '../events/raise.js'

/** The newest message of the contact `c`, as JSON. */
const LAST_MESSAGE = `(
  SELECT json_build_object('id', m.id, 'seq', m.seq, 'text', left(m.text, 200), 'message_type', m.message_type,
    'media_type', m.media_type,
    'detail', CASE m.message_type WHEN 'call' THEN m.content ->> 'outcome' WHEN 'handover' THEN m.content ->> 'holder'
      WHEN 'group' THEN m.content ->> 'event' WHEN 'system' THEN m.content ->> 'type'
      WHEN 'unsupported' THEN m.content ->> 'type' WHEN 'unknown' THEN m.content ->> 'type'
      WHEN 'interactive' THEN m.content -> 'call_permission_reply' ->> 'response' END,
    'sender_type', m.sender_type, 'status', m.status, 'created_at', m.created_at,
    'has_error', coalesce(m.error ->> 'code', '${MEDIA_REMOVED}') <> '${MEDIA_REMOVED}')
  FROM messages m
  WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.contact_id = c.id AND m.seq = c.last_seq
)`

/** The activity of a row `a` of contact_activity in microseconds: an integer loses no precision in a cursor. */
const MICROSECONDS = '(extract(epoch FROM a.active_at) * 1000000)::bigint'
const toTime = (parameter: string) => `'epoch'::timestamptz + ${parameter}::float8 * interval '1 microsecond'`

// $2 to $4: the name, the digits and the forms to search for, as in contact-lists; then the filters and the position.
const IS_AFTER = `(a.active_at, a.contact_id) < (${toTime('$9')}, $10::uuid)`
const MATCHES_FILTER = `c.archived = $5 AND (NOT $6::boolean OR c.has_unread_messages) AND ($7::uuid IS NULL OR c.assignee_id = $7)
     AND ($8::text IS NULL OR $8 = ANY (c.tags))`
const IS_FOUND = `($2::text IS NULL OR c.folded_name LIKE $2 OR '@' || lower(c.username) LIKE $2 OR EXISTS (
       SELECT FROM contact_addresses n
       WHERE ${ofOrganization('n.organization_id', '$1::uuid')} AND n.contact_id = c.id
         AND ((n.address LIKE $3 AND n.address NOT LIKE '%:%') OR n.address = ANY ($4))
     ))`

interface PageRow {
  id: string
  active_at: number
}

// OFFSET 0: contacts are looked up one by one by their key until the page is full. With any other index, each look-up
// would read all contacts of the organization: 1,000 times 12,500 take minutes.
const walk = statement<PageRow>(
  'inbox.walk',
  `SELECT a.contact_id AS id, ${MICROSECONDS} AS active_at
   FROM (
     SELECT a.contact_id, a.active_at FROM contact_activity a
     WHERE a.organization_id = $1 AND ${IS_AFTER}
     ORDER BY a.active_at DESC, a.contact_id DESC
     LIMIT $12
   ) a CROSS JOIN LATERAL (
     SELECT FROM contacts c
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = a.contact_id AND ${MATCHES_FILTER} AND ${IS_FOUND}
     OFFSET 0
   ) fits
   ORDER BY a.active_at DESC, a.contact_id DESC
   LIMIT $11`,
  { isHeavy: true },
)

const edge = statement<PageRow>(
  'inbox.edge',
  `SELECT a.contact_id AS id, ${MICROSECONDS} AS active_at FROM contact_activity a
   WHERE a.organization_id = $1 AND (a.active_at, a.contact_id) < (${toTime('$2')}, $3::uuid)
   ORDER BY a.active_at DESC, a.contact_id DESC
   OFFSET $4 - 1 LIMIT 1`,
)

const findAmong = (name: string, contacts: string) =>
  statement<PageRow>(
    `inbox.${name}`,
    `SELECT a.contact_id AS id, ${MICROSECONDS} AS active_at
     FROM (${contacts}) c CROSS JOIN LATERAL (
       SELECT contact_id, active_at FROM contact_activity
       WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = c.id
       OFFSET 0
     ) a
     WHERE ${IS_AFTER}
     ORDER BY a.active_at DESC, a.contact_id DESC
     LIMIT $11`,
  )

const findAssigned = findAmong(
  'findAssigned',
  `SELECT c.id FROM contacts c WHERE c.organization_id = $1 AND c.assignee_id = $7 AND ${MATCHES_FILTER} AND ${IS_FOUND}`,
)

const findSearched = findAmong(
  'findSearched',
  `SELECT c.id
   FROM (SELECT id FROM contacts WHERE organization_id = $1 AND folded_name LIKE $2 UNION ${BY_ADDRESS('')}) found
   CROSS JOIN LATERAL (
     SELECT * FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = found.id OFFSET 0
   ) c
   WHERE ${MATCHES_FILTER}`,
)

// MATCHES_FILTER has the same condition, but with a parameter whose value the planner does not know; the partial index
// needs a literal.
const findArchived = findAmong(
  'findArchived',
  `SELECT c.id FROM contacts c WHERE c.organization_id = $1 AND c.archived AND ${MATCHES_FILTER} AND ${IS_FOUND}`,
)

const read = statement<InboxRow>(
  'inbox.read',
  `SELECT ${QUALIFIED_CONTACT_COLUMNS}, a.active_at, ${LAST_MESSAGE} AS last_message
   FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (id, rank)
   CROSS JOIN LATERAL (
     SELECT * FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = wanted.id OFFSET 0
   ) c CROSS JOIN LATERAL (
     SELECT active_at FROM contact_activity WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = wanted.id OFFSET 0
   ) a
   ORDER BY wanted.rank`,
)

/** How many of a contact's newest messages are searched for its last channel. */
const RECENT_MESSAGES = 1_000

const newestInbound = statement<{ instance_id: string | null }>(
  'inbox.newestInbound',
  `SELECT m.instance_id FROM messages m
   WHERE m.organization_id = $1 AND m.contact_id = $2 AND m.seq > $3::bigint - ${RECENT_MESSAGES} AND m.sender_type = 'user-chat'
   ORDER BY m.seq DESC
   LIMIT 1`,
)

const inboundTimes = statement<{ instance_id: string | null; at: Date }>(
  'inbox.inboundTimes',
  `SELECT m.instance_id, max(m.created_at) AS at FROM messages m
   WHERE m.organization_id = $1 AND m.contact_id = $2 AND m.seq > $3::bigint - ${RECENT_MESSAGES} AND m.sender_type = 'user-chat'
   GROUP BY m.instance_id`,
)

// The member's row is locked, so that the member cannot be removed meanwhile; a former member cannot be assigned.
const assign = statement<{ is_member: boolean }>(
  'inbox.assign',
  `WITH member AS (
     SELECT id FROM members WHERE organization_id = $1 AND id = $3 FOR KEY SHARE
   ), changed AS (
     UPDATE contacts c SET assignee_id = $3, updated_at = now()
     WHERE c.organization_id = $1 AND c.id = $2 AND c.assignee_id IS DISTINCT FROM $3::uuid
       AND ($3::uuid IS NULL OR EXISTS (SELECT FROM member))
     RETURNING c.*
   ), event AS (
     ${raiseEvents(contactEvents('contact.updated', '$4', 'changed'))}
   )
   SELECT $3::uuid IS NULL OR EXISTS (SELECT FROM member) AS is_member`,
  { raises: 'events' },
)

const listTags = statement<{ tag: string; count: number }>(
  'inbox.tags',
  `SELECT tag, count(*)::float8 AS count
   FROM contacts CROSS JOIN unnest(tags) AS tag
   WHERE organization_id = $1
   GROUP BY tag
   ORDER BY count DESC, tag
   LIMIT $2`,
  { isHeavy: true },
)

/** A position in the list: after this contact with this activity. */
export interface InboxPosition {
  /** Microseconds since 1970. */
  activeAt: number
  contactId: string
}

/** The filters of the list; all must match. */
export interface InboxFilter {
  archived: boolean
  unread: boolean
  assigneeId: string | null
  tag: string | null
  search: ContactSearch | null
}

/**
 * The ids of a page, and the position after it; null on the last page. With a filter that rarely matches, a page may have
 * fewer contacts than requested, or none, and its position moves on.
 */
export interface InboxPage {
  ids: string[]
  next: InboxPosition | null
}

const NEWEST: InboxPosition = { activeAt: Number.MAX_SAFE_INTEGER, contactId: LAST_UUID }
/**
 * How far the list is read contact by contact: with an index for the filter, before the matching contacts are searched
 * among all that remain; otherwise, before the page ends.
 */
const WALKS = { ofIndexed: [1_000], ofOthers: [1_000, 10_000, 100_000] } as const

/** A page of the inbox, latest activity first. */
export async function listInboxPage(
  db: Queryable,
  organizationId: string,
  filter: InboxFilter,
  { after, limit }: { after: InboxPosition | null; limit: number },
): Promise<InboxPage> {
  const rows: PageRow[] = []
  const { find, walks } = searchOf(filter)
  let from: InboxPosition | null = after ?? NEWEST
  // One row more than the page shows whether there is a next page.
  const missing = () => limit + 1 - rows.length
  for (const steps of walks) {
    if (from === null || missing() === 0) break
    rows.push(...(await db.run(walk, [...valuesOf(organizationId, filter, from), missing(), steps])))
    if (missing() > 0) from = await findEdge(db, organizationId, from, steps)
  }
  if (from !== null && missing() > 0) {
    if (find === null) return { ids: rows.map(({ id }) => id), next: from }
    rows.push(...(await db.run(find, [...valuesOf(organizationId, filter, from), missing()])))
  }
  return toPage(rows, limit)
}

/** The position that a walk of this many steps reached; null if it reached the end. */
async function findEdge(
  db: Queryable,
  organizationId: string,
  { activeAt, contactId }: InboxPosition,
  steps: number,
): Promise<InboxPosition | null> {
  const [row] = await db.run(edge, [organizationId, activeAt, contactId, steps])
  return row ? toPosition(row) : null
}

function searchOf({ archived, assigneeId, search }: InboxFilter): {
  find: Statement<PageRow> | null
  walks: readonly number[]
} {
  if (assigneeId !== null) return { find: findAssigned, walks: WALKS.ofIndexed }
  if (search !== null) return { find: findSearched, walks: WALKS.ofIndexed }
  if (archived) return { find: findArchived, walks: WALKS.ofIndexed }
  // The unread mark has no index, because every message that sets or clears it would have to update it.
  return { find: null, walks: WALKS.ofOthers }
}

function valuesOf(
  organizationId: string,
  { archived, unread, assigneeId, tag, search }: InboxFilter,
  { activeAt, contactId }: InboxPosition,
): unknown[] {
  const patterns = search === null ? [null, null, []] : toPatterns(search)
  return [organizationId, ...patterns, archived, unread, assigneeId, tag, activeAt, contactId]
}

function toPage(rows: readonly PageRow[], limit: number): InboxPage {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { ids: shown.map(({ id }) => id), next: rows.length > limit && last ? toPosition(last) : null }
}

function toPosition({ id, active_at }: PageRow): InboxPosition {
  return { activeAt: active_at, contactId: id }
}

/** These contacts as the inbox shows them, in the given order; unknown ones are left out. */
export async function readInboxContacts(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<InboxRow[]> {
  return ids.length === 0 ? [] : db.run(read, [organizationId, ids])
}

/** The channel of the last recent message that a contact wrote; undefined if there is none. */
export async function findInboundChannel(
  db: Queryable,
  { organization_id, id, last_seq }: Contact,
): Promise<string | null | undefined> {
  const [row] = await db.run(newestInbound, [organization_id, id, last_seq])
  return row?.instance_id
}

/** When a contact last wrote to each channel, among its recent messages. */
export async function findInboundTimes(
  db: Queryable,
  { organization_id, id, last_seq }: Contact,
): Promise<Map<string | null, Date>> {
  const rows = await db.run(inboundTimes, [organization_id, id, last_seq])
  return new Map(rows.map(({ instance_id, at }) => [instance_id, at]))
}

/**
 * Assigns a contact to a member (null: to none); raises contact.updated on a change. False if there is no such member.
 */
export async function assignContact(
  db: Queryable,
  organizationId: string,
  contactId: string,
  memberId: string | null,
): Promise<boolean> {
  const [row] = await db.raise(assign, [organizationId, contactId, memberId, newId()], [organizationId])
  return row?.is_member === true
}

/** How many contacts have each tag, most used first. */
export function countTags(
  db: Queryable,
  organizationId: string,
  limit: number,
): Promise<{ tag: string; count: number }[]> {
  return db.run(listTags, [organizationId, limit])
}
