import type { Context, OperatorContext } from '../../context.js'
import { retryOnDeadlock } from '../../database/retry.js'
import type { Again } from '../../model/jobs.js'
import {
  type Batch,
  DELETION_BATCH,
  type DeleteBatch,
  deleteBatches,
  deleteOrganizationRow,
  listOrganizationMedia,
  markOrganizationDeleted,
} from '../../storage/maintenance/organization-deletion.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { notifyOfSessions } from '../identity/sessions.js'
import { AFTER_BACKUP_MS, removeShownMedia } from '../media/remove.js'
import { requireNoHold } from '../organizations/legal-hold.js'
import { organizationNotFound } from '../organizations/organizations.js'

const MEDIA_BATCH = 500
/** After this many batches (seconds to a minute) a job gives its place back. */
const MAX_BATCHES = 200
/** The pause before the last pass: longer than any request. */
const LAST_PASS_MS = 60_000
/** Checking that nothing refers to a deleted row may read a whole table. */
const SLOW_STATEMENT_MS = 30 * 60_000

interface Run {
  ctx: Context
  organizationId: string
  signal: AbortSignal | undefined
  batches: number
  /** Whether a backup keeps the files. */
  isHeldUp: boolean
}

/**
 * Deletes an organization. It is invisible from now on and its slug, numbers and codes are free; jobs delete its rows
 * and files later. The hashes of its keys stay. Throws organization_not_found, legal_hold.
 */
export async function deleteOrganization(ctx: OperatorContext, organizationId: string): Promise<void> {
  const marked = await retryOnDeadlock(() =>
    ctx.database.transaction(async (transaction) => {
      await requireNoHold(transaction, organizationId)
      return markOrganizationDeleted(transaction, organizationId)
    }),
  )
  if (!marked) organizationNotFound(organizationId)
  notifyOfSessions(ctx, organizationId)
  // Deliveries about to be made are in memory.
  ctx.notifications.send({ topic: 'webhooks', organizationId })
}

/**
 * Deletes rows and files of a deleted organization in batches, as a job that runs again until nothing is left. With
 * `isLast` no request of the organization is running any more, so its own row is deleted too. Throws when `signal`
 * aborts.
 */
export async function deleteOrganizationData(
  ctx: Context,
  organizationId: string,
  isLast: boolean,
  signal?: AbortSignal,
): Promise<Again | null> {
  const database = ctx.database.withStatementTimeout(SLOW_STATEMENT_MS)
  // A job's payload alone must not be enough to delete an organization.
  if (await findOrganization(database, organizationId)) throw new Error(`${organizationId} is not deleted`)
  const run = { ctx: { ...ctx, database }, organizationId, signal, batches: 0, isHeldUp: false }
  while (await deletePass(run)) {
    if (run.batches >= MAX_BATCHES) return { againInMs: 0 }
  }
  if (run.isHeldUp) return { againInMs: AFTER_BACKUP_MS }
  if (!isLast) return { againInMs: LAST_PASS_MS, payload: { isLast: true } }
  await retryOnDeadlock(() => deleteOrganizationRow(database, organizationId))
  return null
}

/** Returns true if anything was there: rows written or moved meanwhile are left to the next pass. */
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
    if (!(await removeShownMedia(ctx, organizationId, mediaIds))) {
      run.isHeldUp = true
      break
    }
    found = true
    run.batches++
  }
  return found
}
