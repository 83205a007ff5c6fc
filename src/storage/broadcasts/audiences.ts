import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, statement } from '../../database/statement.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { SKIP_REASONS } from '../../model/broadcasts/broadcast.js'

/** A recipient as listed: a contact by its id, or a number. */
export interface ListedRecipient {
  contactId: string | null
  number: string | null
  name: string | null
  /** Its own parameters: {body, buttons}. */
  parameters: unknown
  /** The id of its message. */
  messageId: string
}

/** A listed recipient that is not prepared yet. */
export interface UnpreparedRecipient {
  n: number
  contact_id: string | null
  number: string | null
  name: string | null
}

const list = statement<never>(
  'broadcastAudiences.list',
  `INSERT INTO broadcast_recipients (organization_id, broadcast_id, campaign_id, n, contact_id, number, name, parameters, message_id)
   SELECT $1, $2, $2, g.n, g."contactId", g.number, g.name, g.parameters, g."messageId"
   FROM json_to_recordset($3) AS g (n int, "contactId" uuid, number text, name text, parameters jsonb, "messageId" uuid)`,
)

const findUnprepared = statement<UnpreparedRecipient>(
  'broadcastAudiences.findUnprepared',
  `SELECT n, contact_id, number, name FROM broadcast_recipients
   WHERE organization_id = $1 AND broadcast_id = $2 AND n > $3
   ORDER BY n
   LIMIT $4`,
)

const DELETE_BATCH = 10_000

// By ranges of numbers, without a join, so that every plan reads along the key. Without a row the range is empty.
const deleteUnprepared = statement<{ last: number | null }>(
  'broadcastAudiences.deleteUnprepared',
  `WITH batch AS (
     SELECT n FROM broadcast_recipients
     WHERE organization_id = $1 AND broadcast_id = $2 AND n > (
       SELECT greatest(prepared_n, $3) FROM broadcasts WHERE organization_id = $1 AND id = $2 AND status = 'cancelled'
     )
     ORDER BY n
     LIMIT $4
   ), deleted AS (
     DELETE FROM broadcast_recipients
     WHERE organization_id = $1 AND broadcast_id = $2
       AND n >= (SELECT min(n) FROM batch) AND n <= (SELECT max(n) FROM batch)
   )
   SELECT max(n) AS last FROM batch`,
)

/** SQL: why the contact `c` is skipped; NULL if it is not. */
const CONTACT_REASON = `CASE
    WHEN c.phone_number IS NULL AND c.network_id IS NOT NULL THEN '${SKIP_REASONS.notNumber}'
    WHEN c.blocked THEN '${SKIP_REASONS.blocked}'
    WHEN NOT c.allow_broadcast AND c.opted_out_at IS NOT NULL THEN '${SKIP_REASONS.optedOut}'
    WHEN NOT c.allow_broadcast THEN '${SKIP_REASONS.unwanted}'
  END`

// Only the first entry of a contact is sent to. Entries before this batch are in the table, those of the batch in
// `given`. OFFSET 0 makes PostgreSQL look each row up by its key: planned for a table that was empty then, a join
// compares all entries of the broadcast with all of the batch, for a quarter of a minute.
const prepare = statement<never>(
  'broadcastAudiences.prepare',
  `WITH given AS (
     SELECT * FROM (SELECT * FROM json_to_recordset($3) AS given (n int, contact_id uuid, reason text) ${FEW_ROWS}) given ${FEW_ROWS}
   ), judged AS (
     SELECT g.n, c.id AS contact_id, coalesce(g.reason, CASE
         WHEN c.id IS NULL THEN '${SKIP_REASONS.noContact}'
         WHEN row_number() OVER (PARTITION BY c.id ORDER BY g.n) > 1 OR EXISTS (
           SELECT FROM broadcast_recipients r
           WHERE r.organization_id = $1 AND r.contact_id = c.id AND r.broadcast_id = $2
             AND r.n < (SELECT min(n) FROM given) AND r.skip_reason IS NULL
         ) THEN '${SKIP_REASONS.duplicate}'
       END, ${CONTACT_REASON}) AS reason
     FROM given g LEFT JOIN LATERAL (
       SELECT * FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = g.contact_id OFFSET 0
     ) c ON true
   ), prepared AS (
     UPDATE broadcast_recipients r SET contact_id = j.contact_id, skip_reason = j.reason
     FROM judged j CROSS JOIN LATERAL (
       SELECT ctid FROM broadcast_recipients WHERE organization_id = $1 AND broadcast_id = $2 AND n = j.n OFFSET 0
     ) at
     WHERE r.organization_id = $1 AND r.ctid = at.ctid
   )
   INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
   SELECT $1, $2, CASE WHEN reason IS NULL THEN 'total' ELSE 'skipped' END, count(*)
   FROM judged
   GROUP BY reason IS NULL`,
)

// The contacts with the broadcast's tags (or all), in the order of their ids, without those that are recipients
// already. OFFSET 0 makes PostgreSQL look each up by its key, even if the statistics are out of date.
const extend = statement<{ added: number; last_contact: string | null }>(
  'broadcastAudiences.extend',
  `WITH wanted AS (
     SELECT c.id, ${CONTACT_REASON} AS reason
     FROM contacts c
     WHERE c.organization_id = $1 AND c.id > $4 AND c.created_at <= $5 AND ($6::text[] IS NULL OR c.tags && $6)
       AND NOT EXISTS (
         SELECT FROM broadcast_recipients r
         WHERE r.organization_id = $1 AND r.contact_id = c.id AND r.broadcast_id = $2
         OFFSET 0
       )
     ORDER BY c.id
     LIMIT cardinality($7::uuid[])
   ), numbered AS (
     SELECT id, reason, row_number() OVER (ORDER BY id)::int AS k FROM wanted
   ), added AS (
     INSERT INTO broadcast_recipients (organization_id, broadcast_id, campaign_id, n, contact_id, message_id, skip_reason)
     SELECT $1, $2, $2, $3::int + k, id, ($7::uuid[])[k], reason FROM numbered
   ), counted AS (
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
     SELECT $1, $2, CASE WHEN reason IS NULL THEN 'total' ELSE 'skipped' END, count(*)
     FROM numbered
     GROUP BY reason IS NULL
   )
   SELECT count(*) AS added, (SELECT id FROM numbered ORDER BY k DESC LIMIT 1) AS last_contact FROM numbered`,
)

const judge = statement<ContactSkipReason>(
  'broadcastAudiences.judge',
  `SELECT c.id, ${CONTACT_REASON} AS reason, $3::text[] IS NULL OR c.tags && $3 AS is_tagged
   FROM contacts c
   WHERE c.organization_id = $1 AND c.id = ANY ($2)`,
)

const count = statement<{ reason: string | null; contacts: number }>(
  'broadcastAudiences.count',
  `SELECT ${CONTACT_REASON} AS reason, count(*)::int AS contacts
   FROM contacts c
   WHERE c.organization_id = $1 AND ($2::text[] IS NULL OR c.tags && $2)
   GROUP BY 1`,
)

const addUtmCampaigns = statement<never>(
  'broadcastAudiences.addUtmCampaigns',
  `INSERT INTO broadcast_utm_campaigns (organization_id, broadcast_id, utm_campaign)
   SELECT $1, $2, campaign FROM unnest($3::text[]) AS campaign
   ORDER BY campaign
   ON CONFLICT DO NOTHING`,
)

/**
 * Deletes the next recipients of a cancelled broadcast that are not prepared, after number `after`. Returns the last
 * number; null: there are no more.
 */
export async function deleteUnpreparedRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  after: number,
): Promise<number | null> {
  const [row] = await db.run(deleteUnprepared, [organizationId, broadcastId, after, DELETE_BATCH])
  return row?.last ?? null
}

/** Adds listed recipients after number `after`; they are counted when they are prepared. */
export async function listRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { recipients, after }: { recipients: readonly ListedRecipient[]; after: number },
): Promise<void> {
  const rows = recipients.map((recipient, index) => ({ n: after + 1 + index, ...recipient }))
  await db.run(list, [organizationId, broadcastId, JSON.stringify(rows)])
}

/** The next listed recipients after number `after`, at most `limit`. */
export function findUnpreparedRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { after, limit }: { after: number; limit: number },
): Promise<UnpreparedRecipient[]> {
  return db.run(findUnprepared, [organizationId, broadcastId, after, limit])
}

/**
 * Prepares listed recipients: each gets its contact, or the reason why it is skipped. All before them must be prepared.
 */
export async function prepareRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  recipients: readonly { n: number; contact_id: string | null; reason: string | null }[],
): Promise<void> {
  await db.run(prepare, [organizationId, broadcastId, JSON.stringify(recipients)])
}

/** Which contacts become recipients: those that existed at `until` and have one of the tags; null tags: all. */
export interface AudienceStep {
  tags: readonly string[] | null
  until: Date
  /** Continues after this contact; null: at the beginning. */
  afterContact: string | null
  /** The number of the last recipient so far. */
  afterN: number
  /** The ids of their messages; as many as the step may add. */
  messageIds: readonly string[]
}

/** Adds the next contacts of an audience as recipients; resolves to how many, and the last one. */
export async function extendRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { tags, until, afterContact, afterN, messageIds }: AudienceStep,
): Promise<{ added: number; lastContact: string | null }> {
  const values = [organizationId, broadcastId, afterN, afterContact ?? NIL_UUID, until, tags, messageIds]
  const [row] = await db.run(extend, values)
  return { added: row?.added ?? 0, lastContact: row?.last_contact ?? null }
}

/** A listed contact with its skip reason. */
export interface ContactSkipReason {
  id: string
  /** Why it would be skipped; null: it would be sent to. */
  reason: string | null
  /** Whether it has one of the tags. */
  is_tagged: boolean
}

/**
 * The skip reasons of these contacts, by their ids; unknown ones are left out. With `tags` null each counts as tagged.
 */
export async function findSkipReasons(
  db: Queryable,
  organizationId: string,
  contactIds: readonly string[],
  tags: readonly string[] | null,
): Promise<Map<string, ContactSkipReason>> {
  const rows = await db.run(judge, [organizationId, contactIds, tags])
  return new Map(rows.map((contact) => [contact.id, contact]))
}

/** How many contacts have one of the tags (null: all), by skip reason. */
export function countAudience(
  db: Queryable,
  organizationId: string,
  tags: readonly string[] | null,
): Promise<{ reason: string | null; contacts: number }[]> {
  return db.run(count, [organizationId, tags])
}

/** Adds utm_campaigns that links of single recipients lead to. */
export async function addUtmCampaignsOfBroadcast(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  campaigns: readonly string[],
): Promise<void> {
  if (campaigns.length > 0) await db.run(addUtmCampaigns, [organizationId, broadcastId, campaigns])
}
