import type { Queryable } from '../../database/pool.js'
import { type Statement, statement } from '../../database/statement.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { ONLY_ONE } from '../../model/jobs.js'
import { enqueueJobs } from '../jobs/enqueue.js'

// The first step of a deletion marks the organization's row, which hides it from the view `organizations`, and deletes
// small tables whose rows have effects of their own. The second step deletes the rows of all other tables in batches.
// See docs/decisions/organization-deletion.md.

const mark = statement<{ id: string }>(
  'organizationDeletion.mark',
  `WITH marked AS (
     UPDATE organization_rows SET deleted_at = now(), suspended_at = NULL, updated_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING id
   ), job AS (
     ${enqueueJobs({ task: 'delete_organization', key: `'${ONLY_ONE}'`, payload: `'{"isLast": false}'`, from: 'marked' })}
   )
   SELECT id FROM marked`,
  { enqueues: 'now' },
)

// Sessions and sign-in links are deleted with their members.
const withdraw = statement<never>(
  'organizationDeletion.withdraw',
  `WITH endpoints AS (DELETE FROM webhooks WHERE organization_id = $1),
     feed AS (DELETE FROM webhook_feeds WHERE organization_id = $1),
     keys AS (DELETE FROM api_keys WHERE organization_id = $1),
     team AS (DELETE FROM members WHERE organization_id = $1),
     number AS (DELETE FROM upstream_settings WHERE organization_id = $1),
     shop AS (DELETE FROM storefront_settings WHERE organization_id = $1),
     sending AS (
       UPDATE broadcasts SET status = 'cancelled', generation = generation + 1
       WHERE organization_id = $1 AND kind = 'broadcast' AND status IN ('scheduled', 'running')
     )
   SELECT`,
)

// A process that runs a linked device disconnects it at the next renewal of its leases.
const letInstancesGo = statement<never>(
  'organizationDeletion.letInstancesGo',
  `UPDATE instances SET wanted = false, holder = NULL, held_until = NULL, verify_token_hash = NULL
   WHERE organization_id = $1 AND (wanted OR holder IS NOT NULL OR verify_token_hash IS NOT NULL)`,
)

// The hashes of keys stay, so that a deleted key gets its own error. Codes of short links stay if they lead on.
const ENDS = `kind <> 'api_key' AND NOT (
     kind = 'short_link' AND EXISTS (SELECT FROM forwards WHERE organization_id = $1)
   )`

// The few rows written meanwhile are deleted with it.
const removeRow = statement<never>(
  'organizationDeletion.removeRow',
  `WITH entries AS (DELETE FROM directory WHERE organization_id = $1 AND ${ENDS}),
     failed AS (DELETE FROM jobs WHERE organization_id = $1 AND failed_at IS NOT NULL),
     turn AS (DELETE FROM callback_turns WHERE organization_id = $1)
   DELETE FROM organization_rows WHERE id = $1 AND deleted_at IS NOT NULL`,
)

const listMedia = statement<{ id: string }>(
  'organizationDeletion.listMedia',
  'SELECT id FROM media WHERE organization_id = $1 ORDER BY id LIMIT $2',
)

/** Small, so that a batch holds its locks for a short time only. */
export const DELETION_BATCH = 1_000

const FIRST = { uuid: NIL_UUID, text: '', bigint: '0' } as const

/** A table and the column that follows organization_id in its key. */
type Walk = readonly [table: string, column: string, type: keyof typeof FIRST]

/**
 * The tables that may be large, each before the tables that it refers to, so that a batch cascades to few rows. The
 * other tables are emptied by the first step or with the organization's row.
 */
const WALKS: readonly Walk[] = [
  ['set_aside_callbacks', 'callback_id', 'uuid'],
  ['phone_history_chunks', 'callback_id', 'uuid'],
  ['callbacks', 'id', 'uuid'],
  ['webhook_deliveries', 'id', 'uuid'],
  ['events', 'seq', 'bigint'],
  ['idempotency_keys', 'operation', 'text'],
  ['rate_limits', 'key_id', 'uuid'],
  ['sending_paces', 'phone_number_id', 'text'],
  ['messages', 'id', 'uuid'],
  ['message_prices', 'message_id', 'uuid'],
  ['early_statuses', 'upstream_id', 'text'],
  ['uploaded_files', 'id', 'uuid'],
  ['broadcast_recipients', 'broadcast_id', 'uuid'],
  ['audience_recipients', 'audience_id', 'uuid'],
  ['broadcast_failures', 'broadcast_id', 'uuid'],
  ['broadcast_utm_campaigns', 'broadcast_id', 'uuid'],
  ['broadcast_retries', 'id', 'uuid'],
  ['campaign_deltas', 'campaign_id', 'uuid'],
  ['campaign_counts', 'campaign_id', 'uuid'],
  ['campaign_errors', 'code', 'text'],
  ['broadcasts', 'id', 'uuid'],
  ['templates', 'name', 'text'],
  ['sent_links', 'broadcast_id', 'uuid'],
  ['short_link_visits', 'code', 'text'],
  ['short_link_clicks', 'code', 'text'],
  ['short_links', 'code', 'text'],
  ['storefront_orders', 'id', 'text'],
  ['storefront_webhooks', 'id', 'text'],
  ['line_counts', 'instance_id', 'uuid'],
  ['device_keys', 'instance_id', 'uuid'],
  ['device_credentials', 'instance_id', 'uuid'],
  ['instance_commands', 'id', 'uuid'],
  ['instances', 'id', 'uuid'],
  ['message_search', 'contact_id', 'uuid'],
  ['contact_activity', 'contact_id', 'uuid'],
  ['contact_counts', 'id', 'bigint'],
  ['contact_addresses', 'address', 'text'],
  ['contact_address_spans', 'id', 'uuid'],
  ['contact_usernames', 'contact_id', 'uuid'],
  ['contact_merges', 'id', 'uuid'],
  ['notes', 'id', 'uuid'],
  ['scheduled_messages', 'id', 'uuid'],
  ['contacts', 'id', 'uuid'],
]

/** The tables whose key begins with an organization, without those of its settings, files and jobs. */
export const TABLES_OF_ORGANIZATIONS: readonly string[] = WALKS.map(([table]) => table)

/** The result of a batch: the number of rows, and where the next one begins. */
export interface Batch {
  count: number
  last: string | null
}

/**
 * Deletes the first rows from $2 on. Each batch begins where the last one ended, because the index still leads to
 * deleted rows while a transaction may see them. A row that moves at this moment is left to the next pass. The rows are
 * deleted by their place alone: with the organization named once more, a plan made for an empty table reads all of its
 * rows for each batch.
 */
const deleteFrom = ([table, column, type]: Walk): Statement<Batch> =>
  statement<Batch>(
    `organizationDeletion.${table}`,
    `WITH batch AS (
       SELECT ctid, ${column} FROM ${table} WHERE organization_id = $1 AND ${column} >= $2::text::${type}
       ORDER BY ${column} LIMIT ${DELETION_BATCH}
     ), deleted AS (
       DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM batch))
     )
     SELECT (SELECT count(*) FROM batch) AS count, (SELECT ${column}::text FROM batch ORDER BY batch.${column} DESC LIMIT 1) AS last`,
  )

const deletions = WALKS.map((walk) => ({ first: FIRST[walk[2]], statement: deleteFrom(walk) }))

// This table's index has no order within an organization.
const deleteEntries = statement<Batch>(
  'organizationDeletion.directory',
  `WITH deleted AS (
     DELETE FROM directory WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM directory WHERE organization_id = $1 AND ${ENDS} LIMIT ${DELETION_BATCH}
     ))
     RETURNING kind
   )
   SELECT count(*) AS count, '' AS last FROM deleted`,
)

/**
 * Marks the organization as deleted and adds a job that deletes its rows; false if there is no such organization. After
 * the commit the organization is invisible, its keys, members, webhooks and settings are deleted, its broadcasts stop,
 * and its instances lose their leases. Needs a transaction.
 */
export async function markOrganizationDeleted(transaction: Queryable, organizationId: string): Promise<boolean> {
  const marked = await transaction.run(mark, [organizationId])
  if (marked.length === 0) return false
  await transaction.run(withdraw, [organizationId])
  // Last, because processes that renew all their leases at once wait for these rows.
  await transaction.run(letInstancesGo, [organizationId])
  return true
}

/** Deletes the next batch of one table, from the row `from` on; null: from the first. */
export type DeleteBatch = (db: Queryable, organizationId: string, from: string | null) => Promise<Batch>

/** The deletions of all tables except files, in an order that foreign keys allow. */
export const deleteBatches: readonly DeleteBatch[] = [...deletions, { first: '', statement: deleteEntries }].map(
  ({ first, statement }): DeleteBatch =>
    async (db, organizationId, from) => {
      const values = statement === deleteEntries ? [organizationId] : [organizationId, from ?? first]
      const [batch] = await db.run(statement, values)
      return batch as Batch
    },
)

/** The ids of at most `limit` stored files of an organization. */
export async function listOrganizationMedia(db: Queryable, organizationId: string, limit: number): Promise<string[]> {
  const rows = await db.run(listMedia, [organizationId, limit])
  return rows.map(({ id }) => id)
}

/** Deletes the row of a deleted organization; does nothing if there is none. */
export async function deleteOrganizationRow(db: Queryable, organizationId: string): Promise<void> {
  await db.run(removeRow, [organizationId])
}
