import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { Audience, Broadcast, BroadcastStatus } from '../../model/broadcasts/broadcast.js'
import { COUNT_LIMIT } from '../../model/page.js'
import type { TemplateParameters } from '../../model/templates/parameters.js'
import type { Template } from '../../model/templates/template.js'
import { countersOf } from '../counts/campaigns.js'
import { enqueuePreparation, enqueueStart } from './jobs.js'

const COLUMNS = `b.organization_id, b.id, b.name, b.template_name, b.template_language, b.template, b.parameters, b.header_media,
  b.media_id, b.channel_media_id, b.handed_over_at, b.audience, b.status, b.status_reason, b.from_number, b.generation, b.prepared_n,
  b.prepared_contact, b.prepared_at, b.scheduled_at, b.started_at, b.completed_at, b.created_at, b.stored_at`

/** The broadcast `b` with its counters, for a select list. */
const SHOWN = `${COLUMNS}, ${countersOf('b.organization_id', 'b.id')} AS counters`

// The job prepares what the request itself does not.
const insert = statement<never>(
  'broadcasts.insert',
  `WITH inserted AS (
     INSERT INTO broadcasts (organization_id, id, kind, name, template_name, template_language, template, parameters,
       header_media, media_id, channel_media_id, handed_over_at, audience, status, scheduled_at, started_at, created_at, from_number)
     VALUES ($1, $2, 'broadcast', $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $10::text IS NOT NULL THEN $14::timestamptz END,
       $11, $12, $13, CASE WHEN $12 = 'running' THEN $14::timestamptz END, $14, $15)
   ), kept AS (
     UPDATE media SET message_id = $2 WHERE organization_id = $1 AND id = $9
   ), scheduled AS (
     ${enqueueStart({ from: "(SELECT $13::timestamptz AS at) scheduled WHERE $12 = 'scheduled'", at: 'scheduled.at' })}
   )
   ${enqueuePreparation()}`,
  { enqueues: 'later' },
)

// The campaign of a template's one-off sends on one day stores the template's latest components.
const ensureOneOffs = statement<{ id: string }>(
  'broadcasts.ensureSingles',
  `INSERT INTO broadcasts AS b (organization_id, id, kind, day, name, template_name, template_language, template, status, started_at, created_at)
   VALUES ($1, $2, 'singles', $3, $4, $4, $5, $6, 'completed', $7, $7)
   ON CONFLICT (organization_id, day, template_name, template_language) WHERE kind = 'singles'
     DO UPDATE SET template = excluded.template
   RETURNING id`,
)

const find = statement<Broadcast>(
  'broadcasts.find',
  `SELECT ${SHOWN} FROM broadcasts b WHERE b.organization_id = $1 AND b.id = $2 AND b.kind = 'broadcast'`,
)

const lock = statement<Broadcast>(
  'broadcasts.lock',
  `SELECT ${COLUMNS} FROM broadcasts b WHERE b.organization_id = $1 AND b.id = $2 AND b.kind = 'broadcast' FOR UPDATE`,
)

// Only the broadcasts of the page are counted, not those that OFFSET skips.
const list = statement<Broadcast>(
  'broadcasts.list',
  `SELECT ${SHOWN}
   FROM (
     SELECT * FROM broadcasts
     WHERE organization_id = $1 AND kind = 'broadcast' AND ($2::text IS NULL OR status = $2)
     ORDER BY id DESC
     LIMIT $3 OFFSET $4
   ) b
   ORDER BY b.id DESC`,
)

const listAll = sharedStatement<Broadcast & { organization: string }>(
  'broadcasts.listAll',
  `SELECT ${SHOWN}, b.slug AS organization
   FROM (
     SELECT b.*, o.slug FROM organizations o JOIN broadcasts b ON b.organization_id = o.id
     WHERE b.kind = 'broadcast' AND ($1::text IS NULL OR b.status = $1)
     ORDER BY b.id DESC
     LIMIT $2 OFFSET $3
   ) b
   ORDER BY b.id DESC`,
)

const count = statement<{ count: number }>(
  'broadcasts.count',
  `SELECT count(*) FROM (
     SELECT FROM broadcasts b
     WHERE b.organization_id = $1 AND b.kind = 'broadcast' AND ($2::text IS NULL OR b.status = $2)
     LIMIT ${COUNT_LIMIT}
   ) counted`,
)

const markUploadedRow = statement<never>(
  'broadcasts.markHandedOver',
  `UPDATE broadcasts SET channel_media_id = $3, handed_over_at = $4 WHERE organization_id = $1 AND id = $2`,
)

const markPrepared = statement<never>(
  'broadcasts.markPrepared',
  `UPDATE broadcasts SET prepared_n = $3, prepared_contact = $4, prepared_at = $5 WHERE organization_id = $1 AND id = $2`,
)

/** The fields of a new broadcast; its recipients follow (storage/broadcasts/audiences). */
export interface NewBroadcast {
  id: string
  name: string
  template: Template
  parameters: TemplateParameters
  header_media: string | null
  media_id: string | null
  channel_media_id: string | null
  audience: Audience
  status: Extract<BroadcastStatus, 'scheduled' | 'running'>
  scheduled_at: Date | null
  from_number: string | null
  created_at: Date
}

/** Inserts a broadcast and enqueues its preparation. Fails with a unique violation if the id is taken. */
export async function insertBroadcast(db: Queryable, organizationId: string, broadcast: NewBroadcast): Promise<void> {
  const { template } = broadcast
  await db.run(insert, [
    organizationId,
    broadcast.id,
    broadcast.name,
    template.name,
    template.language,
    JSON.stringify(template),
    JSON.stringify(broadcast.parameters),
    broadcast.header_media,
    broadcast.media_id,
    broadcast.channel_media_id,
    JSON.stringify(broadcast.audience),
    broadcast.status,
    broadcast.scheduled_at,
    broadcast.created_at,
    broadcast.from_number,
  ])
}

/**
 * The id of the campaign that counts the one-off sends of a template on a day (YYYY-MM-DD); created by the first of
 * them.
 */
export async function ensureOneOffCampaign(
  db: Queryable,
  organizationId: string,
  { id, day, template, at }: { id: string; day: string; template: Template; at: Date },
): Promise<string> {
  const values = [organizationId, id, day, template.name, template.language, JSON.stringify(template), at]
  const [row] = await db.run(ensureOneOffs, values)
  return (row as { id: string }).id
}

/** One broadcast by its id, or null. One-off sends are not found. */
export async function findBroadcast(db: Queryable, organizationId: string, id: string): Promise<Broadcast | null> {
  const rows = await db.run(find, [organizationId, id])
  return rows[0] ?? null
}

/** Locks a broadcast; its counters are not read. Null if there is none. */
export async function lockBroadcast(
  transaction: Queryable,
  organizationId: string,
  id: string,
): Promise<Omit<Broadcast, 'counters'> | null> {
  const rows = await transaction.run(lock, [organizationId, id])
  return rows[0] ?? null
}

/** A page of broadcasts, newest first, and their number, counted up to `COUNT_LIMIT`. */
export async function listBroadcasts(
  db: Queryable,
  organizationId: string,
  { status, limit, offset }: { status: BroadcastStatus | null; limit: number; offset: number },
): Promise<{ broadcasts: Broadcast[]; total: number }> {
  const broadcasts = await db.run(list, [organizationId, status, limit, offset])
  const [row] = await db.run(count, [organizationId, status])
  return { broadcasts, total: row?.count ?? 0 }
}

/** The same of all organizations, with their slugs; not counted. */
export function listAllBroadcasts(
  db: Queryable,
  { status, limit, offset }: { status: BroadcastStatus | null; limit: number; offset: number },
): Promise<(Broadcast & { organization: string })[]> {
  return db.run(listAll, [status, limit, offset])
}

/** Stores the channel's new id of the header's file. */
export async function markUploaded(
  db: Queryable,
  organizationId: string,
  id: string,
  { channelMediaId, at }: { channelMediaId: string; at: Date },
): Promise<void> {
  await db.run(markUploadedRow, [organizationId, id, channelMediaId, at])
}

/** Stores how far the recipients of a locked broadcast are prepared; `at`: when all are. */
export async function markPreparedUpTo(
  transaction: Queryable,
  organizationId: string,
  id: string,
  { n, contactId, at }: { n: number; contactId: string | null; at: Date | null },
): Promise<void> {
  await transaction.run(markPrepared, [organizationId, id, n, contactId, at])
}
