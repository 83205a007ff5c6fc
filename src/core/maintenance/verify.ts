import type { BlobStore } from '../../blobs/blob-store.js'
import type { Context } from '../../context.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { blobKey } from '../../model/messages/media.js'
import { isAheadOfServer } from '../../storage/events/transaction-clock.js'
import {
  compareKeptCounts,
  findIdsWithoutFile,
  findKeptFiles,
  findStrangers,
  listOrganizationsAfter,
  type ShownFile,
  type Violation,
  type ViolationKind,
  type Walk,
  walks,
} from '../../storage/maintenance/verification.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { verifyCounters } from '../analytics/verify.js'

/** A violation with its organization's slug, null: of no organization; and what an operator can do. */
export interface FoundViolation extends Violation {
  organization: string | null
  remedy: string
}

/** Hears of the progress and of what is found. */
export interface VerifyWatcher {
  /** A table of an organization is read next. */
  begins(organization: string | null, table: string): void
  /** So many more rows have been read. */
  read(rows: number): void
  violation(violation: FoundViolation): void
  /** Something an operator may want to know that breaks nothing. */
  note(organization: string | null, text: string): void
}

/** What `verifyDatabase` needs; without `blobs`, files are not looked for. */
export interface VerifyContext extends Pick<Context, 'database' | 'clock' | 'channelNames'> {
  blobs: BlobStore | null
}

const REMEDIES: Record<ViolationKind, string> = {
  conversation_numbers: 'rows were changed or lost outside of Parley: restore a backup that verifies',
  contact_list: 'rows were changed or lost outside of Parley: restore a backup that verifies',
  contact_count: 'the total of contacts is wrong by the difference: restore a backup that verifies',
  channel_count: 'the total of messages is wrong by the difference: restore a backup that verifies',
  campaign_count: 'the results of this campaign are wrong by the difference; its messages are not',
  missing_row: 'rows were changed or lost outside of Parley: restore a backup that verifies',
  missing_file: 'copy the file from a backup into the media store under this key; until then its address answers 404',
  file_size: 'copy the file from a backup into the media store under this key',
  event_order: 'readers of the feed may see an effect before its cause: restore a backup that verifies',
  no_organization: 'rows outlived their organization: they take space and are never shown; delete them by hand',
}

const BATCH = 500

interface Run extends VerifyContext {
  watcher: VerifyWatcher
}

interface Subject {
  id: string
  slug: string
}

/**
 * Compares what the database keeps twice: numbers and counts with recounts, references with the rows that they name,
 * files of messages with the store, events with their order. Of one organization, or of all that are not deleted. Reads
 * only, a page at a time; each comparison is one statement, so a running service causes no false alarm.
 */
export async function verifyDatabase(
  ctx: VerifyContext,
  only: Subject | undefined,
  watcher: VerifyWatcher,
): Promise<void> {
  const run: Run = { ...ctx, watcher }
  if (await isAheadOfServer(ctx.database)) {
    watcher.note(null, 'the database comes from another server: the service adopts its events at the next start')
  }
  if (only) return verifyOrganization(run, only)
  let after = NIL_UUID
  for (;;) {
    const organizations = await listOrganizationsAfter(run.database, after, BATCH)
    for (const organization of organizations) await verifyOrganization(run, organization)
    const last = organizations[BATCH - 1]
    if (!last) break
    after = last.id
  }
  watcher.begins(null, 'organizations')
  for (const violation of await findStrangers(run.database)) report(run, null, violation)
}

async function verifyOrganization(run: Run, organization: Subject): Promise<void> {
  for (const walk of walks) await walkThrough(run, organization, walk)
  await verifyCounts(run, organization)
  await verifyCampaigns(run, organization)
  await listFilesWithoutRow(run, organization)
}

async function walkThrough(run: Run, organization: Subject, { table, first, page, pageSize }: Walk): Promise<void> {
  run.watcher.begins(organization.slug, table)
  let after: string | null = first
  while (after !== null) {
    const { walked, reached, rows, violations, files } = await page(run.database, organization.id, after)
    for (const violation of violations) report(run, organization, violation)
    if (run.blobs) await verifyFiles(run, run.blobs, organization, files)
    run.watcher.read(rows)
    after = walked < pageSize ? null : reached
  }
}

async function verifyFiles(
  run: Run,
  blobs: BlobStore,
  organization: Subject,
  files: readonly ShownFile[],
): Promise<void> {
  const suspects = await findWrongFiles(blobs, organization.id, files)
  if (suspects.length === 0) return
  // A message may have been erased with its file since the page was read.
  const ids = suspects.map(({ id }) => id)
  const kept = await findKeptFiles(run.database, organization.id, ids)
  for (const { id, size, found } of await findWrongFiles(blobs, organization.id, kept)) {
    const kind = found === null ? 'missing_file' : 'file_size'
    const row = `media ${id}`
    const expected = `${size} bytes under ${blobKey(organization.id, id)}`
    report(run, organization, { kind, row, expected, found: found === null ? 'no file' : `${found} bytes` })
  }
}

async function findWrongFiles(
  blobs: BlobStore,
  organizationId: string,
  files: readonly ShownFile[],
): Promise<(ShownFile & { found: number | null })[]> {
  const sorted = [...files].sort((one, other) => (one.id < other.id ? -1 : 1))
  const sizes = await blobs.sizes(sorted.map(({ id }) => blobKey(organizationId, id)))
  return sorted.flatMap((file, place) => {
    const found = sizes[place] ?? null
    return found === file.size ? [] : [{ ...file, found }]
  })
}

async function verifyCounts(run: Run, organization: Subject): Promise<void> {
  run.watcher.begins(organization.slug, 'counts')
  const { rows, violations } = await compareKeptCounts(run.database, organization.id)
  for (const violation of violations) report(run, organization, violation)
  run.watcher.read(rows)
}

async function verifyCampaigns(run: Run, organization: Subject): Promise<void> {
  run.watcher.begins(organization.slug, 'broadcasts')
  const whole = await findOrganization(run.database, organization.id)
  // It may have been deleted since it was listed.
  if (!whole) return
  const { campaigns, drifts } = await verifyCounters(run, whole)
  for (const { campaignId, counter, detail, counted, recounted } of drifts) {
    const row = `broadcasts ${campaignId} ${detail === '' ? counter : `${counter} ${detail}`}`
    report(run, organization, { kind: 'campaign_count', row, expected: String(recounted), found: String(counted) })
  }
  run.watcher.read(campaigns)
}

/** Not a violation: an erased contact's files are removed after their rows, and a backup may hold newer files. */
async function listFilesWithoutRow(run: Run, organization: Subject): Promise<void> {
  if (!run.blobs) return
  run.watcher.begins(organization.slug, 'files')
  let count = 0
  for await (const keys of run.blobs.list(organization.id)) {
    const ids = keys.map((key) => key.slice(organization.id.length + 1))
    count += (await findIdsWithoutFile(run.database, organization.id, ids)).length
    run.watcher.read(keys.length)
  }
  if (count > 0) run.watcher.note(organization.slug, `${count} files in the media store have no row; they do no harm`)
}

function report({ watcher }: Run, organization: Subject | null, violation: Violation): void {
  watcher.violation({ ...violation, organization: organization?.slug ?? null, remedy: REMEDIES[violation.kind] })
}
