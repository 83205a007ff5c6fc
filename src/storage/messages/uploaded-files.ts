import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { UploadedFile } from '../../model/messages/uploaded-file.js'

/** The files of an organization that have not expired. */
export interface UploadedTotal {
  files: number
  bytes: number
}

const COLUMNS = 'organization_id, id, mime_type, size::float8 AS size, filename, created_at, expires_at'

const insert = statement<UploadedFile>(
  'uploadedFiles.insert',
  `INSERT INTO uploaded_files (organization_id, id, mime_type, size, filename, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   RETURNING ${COLUMNS}`,
)

const find = statement<UploadedFile>(
  'uploadedFiles.find',
  `SELECT ${COLUMNS} FROM uploaded_files WHERE organization_id = $1 AND id = $2 AND expires_at > $3`,
)

const measure = statement<UploadedTotal>(
  'uploadedFiles.measure',
  `SELECT count(*)::int AS files, coalesce(sum(size), 0)::float8 AS bytes FROM uploaded_files
   WHERE organization_id = $1 AND expires_at > $2`,
)

const lockAll = statement<never>(
  'uploadedFiles.lockAll',
  'SELECT FROM organization_rows WHERE id = $1 FOR NO KEY UPDATE',
)

const removeExpired = sharedStatement<{ organization_id: string; ids: string[] }>(
  'uploadedFiles.removeExpired',
  `WITH expired AS (
     SELECT organization_id, id FROM uploaded_files WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
   ), removed AS (
     DELETE FROM uploaded_files u USING expired e
     WHERE u.organization_id = e.organization_id AND u.id = e.id
     RETURNING u.organization_id, u.id
   )
   SELECT organization_id, array_agg(id) AS ids FROM removed GROUP BY organization_id`,
)

/** Notes an uploaded file whose bytes are stored. */
export async function insertUploadedFile(
  db: Queryable,
  organizationId: string,
  file: Omit<UploadedFile, 'organization_id'>,
): Promise<UploadedFile> {
  const { id, mime_type, size, filename, created_at, expires_at } = file
  const [row] = await db.run(insert, [organizationId, id, mime_type, size, filename, created_at, expires_at])
  return row as UploadedFile
}

/** An uploaded file that has not expired at `now`; null if there is none. */
export async function findUploadedFile(
  db: Queryable,
  organizationId: string,
  id: string,
  now: Date,
): Promise<UploadedFile | null> {
  const [row] = await db.run(find, [organizationId, id, now])
  return row ?? null
}

/** How much the organization's uploaded files take that have not expired at `now`. */
export async function measureUploadedFiles(db: Queryable, organizationId: string, now: Date): Promise<UploadedTotal> {
  const [row] = await db.run(measure, [organizationId, now])
  return row as UploadedTotal
}

/** Keeps other transactions that take this lock from adding files to the organization until this one ends. */
export async function lockUploadedFiles(transaction: Queryable, organizationId: string): Promise<void> {
  await transaction.run(lockAll, [organizationId])
}

/** Forgets at most `limit` files that have expired at `now`, and resolves to their ids by organization. Of all tenants. */
export function removeExpiredFiles(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<{ organization_id: string; ids: string[] }[]> {
  return db.run(removeExpired, [now, limit])
}
