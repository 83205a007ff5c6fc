import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import type { StoredMedia } from '../../model/messages/media.js'
import { hasContact } from './messages.js'

const insert = statement<never>(
  'media.insert',
  `INSERT INTO media (organization_id, id, mime_type, size, filename, message_id) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (organization_id, id) DO UPDATE
     SET mime_type = excluded.mime_type, size = excluded.size, filename = excluded.filename, created_at = excluded.created_at`,
)

// The file of a message has its id.
const find = statement<StoredMedia>(
  'media.find',
  `SELECT m.organization_id, m.id, m.mime_type, m.size::float8 AS size, m.filename, m.created_at
   FROM media m JOIN organizations o ON o.id = m.organization_id
   WHERE m.organization_id = $1 AND m.id = $2 AND NOT EXISTS (
     SELECT FROM messages m
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND NOT ${hasContact('$1::uuid')}
   )`,
)

const listUnattached = sharedStatement<{ organization_id: string; ids: string[] }>(
  'media.listUnattached',
  `SELECT organization_id, array_agg(id) AS ids
   FROM (SELECT organization_id, id FROM media WHERE message_id IS NULL AND created_at < $1 LIMIT $2) unattached
   GROUP BY organization_id`,
)

const remove = statement<never>('media.delete', 'DELETE FROM media WHERE organization_id = $1 AND id = ANY ($2)')

const removeUnattached = statement<{ id: string }>(
  'media.deleteUnattached',
  'DELETE FROM media WHERE organization_id = $1 AND id = $2 AND message_id IS NULL RETURNING id',
)

/** Records a file before its bytes are stored; `messageId` is null if its message is recorded later. */
export async function insertMedia(
  db: Queryable,
  organizationId: string,
  media: { id: string; mimeType: string; size: number; filename: string | null; messageId: string | null },
): Promise<void> {
  await db.run(insert, [organizationId, media.id, media.mimeType, media.size, media.filename, media.messageId])
}

/** One stored file by its id, or null. */
export async function findMedia(db: Queryable, organizationId: string, id: string): Promise<StoredMedia | null> {
  const rows = await db.run(find, [organizationId, id])
  return rows[0] ?? null
}

/** At most `limit` files recorded before `before` that no message shows, by organization. Of all tenants. */
export function listUnattachedMedia(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<{ organization_id: string; ids: string[] }[]> {
  return db.run(listUnattached, [before, limit])
}

/** Deletes the row of a file that no message shows; resolves to whether there was one. */
export async function deleteUnattachedMedia(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  const rows = await db.run(removeUnattached, [organizationId, id])
  return rows.length > 0
}

/** Deletes the rows of files whose bytes have been removed. */
export async function deleteMedia(db: Queryable, organizationId: string, ids: readonly string[]): Promise<void> {
  await db.run(remove, [organizationId, ids])
}
