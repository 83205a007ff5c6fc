import type { OperatorContext } from '../../context.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import type { Organization } from '../../model/organizations/organization.js'
import {
  COUNTED_ROWS,
  type CountedKind,
  countOldMessages,
  countOldRows,
  type OldRows,
  type OtherDays,
} from '../../storage/maintenance/retention-preview.js'
import { checkRetention } from '../organizations/organizations.js'

/** What retention would delete of one kind now. */
export interface PreviewedKind {
  kind: CountedKind | 'messages'
  /** The days that decide; null: all is kept. */
  days: number | null
  rows: number
  /** `rows` is the number, or there may be more. */
  rows_are: 'exact' | 'at least'
  /** Estimated from some of the rows. */
  bytes: number
  /** ISO 8601; null: nothing is deleted. */
  oldest: string | null
}

/** How often the next thousand contacts are looked at. */
const MAX_CONTACT_LISTS = 50

/**
 * What the next run of retention deletes of an organization, or would delete with other days. Reads only, and a bounded
 * number of rows. While a legal hold is on, that is nothing. Throws invalid_field for days that cannot be set.
 */
export async function previewRetention(
  ctx: OperatorContext,
  organization: Organization,
  other: OtherDays = {},
): Promise<PreviewedKind[]> {
  const days = { ...organization, ...other }
  checkRetention(days)
  const { retention_days, message_retention_days, media_retention_days } = days
  const shortest = [media_retention_days, message_retention_days].filter((days) => days !== null)
  const now = ctx.clock()
  const count = (kind: CountedKind) => countOldRows(ctx.database, organization.id, kind, { now, days: other })
  const kinds: PreviewedKind[] = []
  for (const kind of ['callbacks', 'events', 'webhook_deliveries'] as const) {
    kinds.push(present(kind, retention_days, await count(kind)))
  }
  kinds.push(present('files', shortest.length === 0 ? null : Math.min(...shortest), await count('files')))
  const messages = await countMessages(ctx, organization.id, now, other)
  return [...kinds, present('messages', message_retention_days, messages, messages.isCut)]
}

async function countMessages(
  { database }: OperatorContext,
  organizationId: string,
  now: Date,
  other: OtherDays,
): Promise<OldRows & { isCut: boolean }> {
  const sum: OldRows = { rows: 0, row_bytes: null, oldest: null }
  let after: string | null = NIL_UUID
  for (let list = 0; list < MAX_CONTACT_LISTS && after !== null && sum.rows < COUNTED_ROWS; list++) {
    const next: { now: Date; days: OtherDays; after: string } = { now, days: other, after }
    const { rows, row_bytes, oldest, reached } = await countOldMessages(database, organizationId, next)
    sum.rows += rows
    sum.row_bytes ??= row_bytes
    if (oldest !== null && (sum.oldest === null || oldest < sum.oldest)) sum.oldest = oldest
    after = reached
  }
  return { ...sum, isCut: after !== null || sum.rows >= COUNTED_ROWS }
}

function present(
  kind: PreviewedKind['kind'],
  days: number | null,
  { rows, row_bytes, oldest }: OldRows,
  isCut = rows >= COUNTED_ROWS,
): PreviewedKind {
  return {
    kind,
    days,
    rows,
    rows_are: isCut ? 'at least' : 'exact',
    bytes: Math.round(rows * (row_bytes ?? 0)),
    oldest: oldest?.toISOString() ?? null,
  }
}
