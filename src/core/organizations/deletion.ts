import type { Context, OperatorContext } from '../../context.js'
import { retryOnDeadlock } from '../../database/retry.js'
import {
  type Batch,
  DELETION_BATCH,
  type DeleteBatch,
  deleteBatches,
  deleteOrganizationRow,
  enqueueDeletion,
  listOrganizationMedia,
  markOrganizationDeleted,
} from '../../storage/organizations/deletion.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { notifyOfSessions } from '../identity/sessions.js'
import { removeMedia } from '../media/remove.js'
import { organizationNotFound } from './organizations.js'

const MEDIA_BATCH = 500
/** After so many batches a job makes place for others, and leaves one that goes on: seconds to a minute. */
const MAX_BATCHES = 200
/** Longer than any request lasts. */
const REST_SECONDS = 60

/** What a job is at. */
interface Run {
  ctx: Context
  organizationId: string
  signal: AbortSignal | undefined
  batches: number
}

/**
 * Deletes an organization: it is invisible from now on, and its slug, numbers and codes are free. Jobs delete its rows and files
 * afterwards; the hashes of its keys stay. Throws organization_not_found.
 */
export async function deleteOrganization(ctx: OperatorContext, organizationId: string): Promise<void> {
  const marked = await retryOnDeadlock(() =>
    ctx.database.transaction((transaction) => markOrganizationDeleted(transaction, organizationId)),
  )
  if (!marked) organizationNotFound(organizationId)
  notifyOfSessions(ctx, organizationId)
  // Deliveries that were about to be made are held in memory.
  ctx.notifications.send({ topic: 'webhooks', organizationId })
}

/**
 * Deletes rows and files of a deleted organization, batch by batch; begun again it goes on with what is left, and where that is much it
 * leaves a job for it. `isLast`: no request of its time is under way any more, and its row goes too; before that a job for it is left.
 * Throws once `signal` is aborted.
 */
export async function deleteOrganizationData(
  ctx: Context,
  organizationId: string,
  isLast: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const { database } = ctx
  // A job is a row that anything may have written: what it says is not enough to delete all of a tenant.
  if (await findOrganization(database, organizationId)) throw new Error(`${organizationId} is not deleted`)
  const run = { ctx, organizationId, signal, batches: 0 }
  while (await deletePass(run)) {
    if (run.batches >= MAX_BATCHES) return enqueueDeletion(database, organizationId, isLast, 0)
  }
  if (!isLast) return enqueueDeletion(database, organizationId, true, REST_SECONDS)
  await retryOnDeadlock(() => deleteOrganizationRow(database, organizationId))
}

/** Whether anything was there: what is written or moves meanwhile is for the next pass. */
async function deletePass(run: Run): Promise<boolean> {
  let found = false
  for (const deleteBatch of deleteBatches) {
    if (await deleteRows(run, deleteBatch)) found = true
    if (run.batches >= MAX_BATCHES && found) return true
  }
  return (await deleteFiles(run)) || found
}

async function deleteRows(run: Run, deleteBatch: DeleteBatch): Promise<boolean> {
  const { ctx, organizationId, signal } = run
  let found = false
  let from: string | null = null
  let count = DELETION_BATCH
  while (count === DELETION_BATCH && run.batches < MAX_BATCHES) {
    signal?.throwIfAborted()
    const start: string | null = from
    const batch: Batch = await retryOnDeadlock(() => deleteBatch(ctx.database, organizationId, start))
    count = batch.count
    from = batch.last
    if (count === 0) break
    found = true
    run.batches++
  }
  return found
}

async function deleteFiles(run: Run): Promise<boolean> {
  const { ctx, organizationId, signal } = run
  let found = false
  while (run.batches < MAX_BATCHES) {
    signal?.throwIfAborted()
    const mediaIds = await listOrganizationMedia(ctx.database, organizationId, MEDIA_BATCH)
    if (mediaIds.length === 0) break
    await removeMedia(ctx, organizationId, mediaIds)
    found = true
    run.batches++
  }
  return found
}
