import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { UploadedAudience } from '../../model/broadcasts/uploaded-audience.js'
import { enqueueJobs, withdrawJob } from '../jobs/enqueue.js'

/** A recipient of an uploaded audience. */
export interface UploadedRecipient {
  /** From 1, without gaps. */
  n: number
  /** The digits of its number, or the chat id of a person without one; null if the contact was erased. */
  address: string | null
  name: string | null
  /** Its own parameters under the names of the file. */
  parameters: { body: Record<string, string>; buttons: Record<string, string> } | null
}

const REMOVAL = 'remove_audience'

/** The INSERT that enqueues the deletion of recipients; it waits while the audience exists. */
const enqueueRemoval = (row: { organizationId: string; id: string; from?: string; runAt?: string }): string =>
  enqueueJobs({
    task: REMOVAL,
    organizationId: row.organizationId,
    key: `${row.id}::text`,
    payload: `jsonb_build_object('audienceId', ${row.id}::uuid)`,
    ...(row.from !== undefined && { from: row.from }),
    ...(row.runAt !== undefined && { runAt: row.runAt }),
  })

const COLUMNS = `organization_id, id, name, recipients, rejected, errors, body_parameters, button_parameters, created_at, expires_at,
     bytes`

const planRemoval = statement<never>(
  'uploadedAudiences.planRemoval',
  enqueueRemoval({ organizationId: '$1', id: '$2', runAt: "now() + $3 * interval '1 second'" }),
  { enqueues: 'now' },
)

const addRecipients = statement<never>(
  'uploadedAudiences.addRecipients',
  `INSERT INTO audience_recipients (organization_id, audience_id, n, address, name, parameters)
   SELECT $1, $2, g.n, g.address, g.name, g.parameters
   FROM json_to_recordset($3) AS g (n int, address text, name text, parameters jsonb)
   ON CONFLICT DO NOTHING`,
)

const insert = statement<UploadedAudience>(
  'uploadedAudiences.insert',
  `WITH kept AS (
     ${withdrawJob(REMOVAL, '$2::uuid::text')}
   )
   INSERT INTO audiences (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${COLUMNS}`,
)

const list = statement<UploadedAudience>(
  'uploadedAudiences.list',
  `SELECT ${COLUMNS} FROM audiences WHERE organization_id = $1 AND expires_at > $2 ORDER BY id DESC`,
)

const find = statement<UploadedAudience>(
  'uploadedAudiences.find',
  `SELECT ${COLUMNS} FROM audiences WHERE organization_id = $1 AND id = $2 AND expires_at > $3`,
)

const lock = statement<{ id: string }>(
  'uploadedAudiences.lock',
  'SELECT id FROM audiences WHERE organization_id = $1 AND id = $2 FOR KEY SHARE',
)

const lockAll = statement<never>(
  'uploadedAudiences.lockAll',
  'SELECT FROM organization_rows WHERE id = $1 FOR NO KEY UPDATE',
)

const findRecipients = statement<UploadedRecipient>(
  'uploadedAudiences.findRecipients',
  `SELECT n, address, name, parameters FROM audience_recipients
   WHERE organization_id = $1 AND audience_id = $2 AND n > $3
   ORDER BY n
   LIMIT $4`,
)

const remove = statement<{ id: string }>(
  'uploadedAudiences.remove',
  `WITH removed AS (
     DELETE FROM audiences WHERE organization_id = $1 AND id = $2 AND expires_at > $3 RETURNING id
   ), job AS (
     ${enqueueRemoval({ organizationId: '$1', id: 'removed.id', from: 'removed' })}
   )
   SELECT id FROM removed`,
  { enqueues: 'now' },
)

const prune = sharedStatement<never>(
  'uploadedAudiences.prune',
  `WITH expired AS (
     DELETE FROM audiences WHERE expires_at <= $1 RETURNING organization_id, id
   )
   ${enqueueRemoval({ organizationId: 'expired.organization_id', id: 'expired.id', from: 'expired' })}`,
  { enqueues: 'now' },
)

const findUse = statement<{ is_kept: boolean; is_in_use: boolean }>(
  'uploadedAudiences.findUse',
  `SELECT EXISTS (SELECT FROM audiences WHERE organization_id = $1 AND id = $2) AS is_kept,
     EXISTS (
       SELECT FROM broadcasts
       WHERE organization_id = $1 AND kind = 'broadcast' AND prepared_at IS NULL AND status <> 'cancelled'
         AND audience -> 'uploaded' ->> 'id' = $2::text
     ) AS is_in_use`,
)

const REMOVE_BATCH = 5_000

const removeRecipients = statement<{ last: number | null }>(
  'uploadedAudiences.removeRecipients',
  `WITH batch AS (
     SELECT n FROM audience_recipients
     WHERE organization_id = $1 AND audience_id = $2 AND n > $3
     ORDER BY n
     LIMIT $4
   ), removed AS (
     DELETE FROM audience_recipients
     WHERE organization_id = $1 AND audience_id = $2 AND n > $3 AND n <= (SELECT max(n) FROM batch)
   )
   SELECT max(n) AS last FROM batch`,
)

/** Enqueues the deletion of the recipients: so none stay if their upload does not end. */
export async function planAudienceRemoval(
  db: Queryable,
  organizationId: string,
  id: string,
  inSeconds: number,
): Promise<void> {
  await db.run(planRemoval, [organizationId, id, inSeconds])
}

/** Adds recipients to an audience; those that it has already stay. */
export async function addUploadedRecipients(
  db: Queryable,
  organizationId: string,
  id: string,
  recipients: readonly UploadedRecipient[],
): Promise<void> {
  await db.run(addRecipients, [organizationId, id, JSON.stringify(recipients)])
}

/** Inserts an audience whose recipients have all been added, which withdraws their planned deletion. */
export async function insertUploadedAudience(
  db: Queryable,
  organizationId: string,
  audience: Omit<UploadedAudience, 'organization_id'>,
): Promise<UploadedAudience> {
  const { id, name, recipients, rejected, errors, body_parameters, button_parameters, created_at, expires_at, bytes } =
    audience
  const counts = [recipients, rejected, JSON.stringify(errors)]
  const values = [
    organizationId,
    id,
    name,
    ...counts,
    body_parameters,
    button_parameters,
    created_at,
    expires_at,
    bytes,
  ]
  const [row] = await db.run(insert, values)
  return row as UploadedAudience
}

/** The audiences that have not expired at `now`, newest first. */
export function listUploadedAudiences(db: Queryable, organizationId: string, now: Date): Promise<UploadedAudience[]> {
  return db.run(list, [organizationId, now])
}

/** An audience that has not expired at `now`; null if there is none. */
export async function findUploadedAudience(
  db: Queryable,
  organizationId: string,
  id: string,
  now: Date,
): Promise<UploadedAudience | null> {
  const [row] = await db.run(find, [organizationId, id, now])
  return row ?? null
}

/** Keeps an audience from being deleted until the transaction ends; false if there is none. */
export async function lockUploadedAudience(
  transaction: Queryable,
  organizationId: string,
  id: string,
): Promise<boolean> {
  return (await transaction.run(lock, [organizationId, id])).length > 0
}

/** Keeps other transactions that take this lock from adding audiences to the organization until this one ends. */
export async function lockUploadedAudiences(transaction: Queryable, organizationId: string): Promise<void> {
  await transaction.run(lockAll, [organizationId])
}

/** The next recipients after number `after`, at most `limit`. */
export function findUploadedRecipients(
  db: Queryable,
  organizationId: string,
  id: string,
  { after, limit }: { after: number; limit: number },
): Promise<UploadedRecipient[]> {
  return db.run(findRecipients, [organizationId, id, after, limit])
}

/** Deletes an audience that has not expired at `now`; a job deletes its recipients. False if there is none. */
export async function removeUploadedAudience(
  db: Queryable,
  organizationId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  return (await db.run(remove, [organizationId, id, now])).length > 0
}

/** Deletes the audiences of all organizations that have expired; jobs delete their recipients. */
export async function pruneUploadedAudiences(db: Queryable, now: Date): Promise<void> {
  await db.run(prune, [now])
}

/** Whether an audience exists, and whether a broadcast still takes its recipients. */
export async function findAudienceUse(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<{ isKept: boolean; isInUse: boolean }> {
  const [row] = await db.run(findUse, [organizationId, id])
  return { isKept: row?.is_kept === true, isInUse: row?.is_in_use === true }
}

/** Deletes the next recipients after number `after`; resolves to the number of the last one, or null. */
export async function removeUploadedRecipients(
  db: Queryable,
  organizationId: string,
  id: string,
  after: number,
): Promise<number | null> {
  const [row] = await db.run(removeRecipients, [organizationId, id, after, REMOVE_BATCH])
  return row?.last ?? null
}
