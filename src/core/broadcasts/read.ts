import type { Context } from '../../context.js'
import {
  type Broadcast,
  type BroadcastStatus,
  countRecipients,
  type Recipient,
  type RecipientStatus,
  type ShownBroadcast,
} from '../../model/broadcasts/broadcast.js'
import type { Organization } from '../../model/organizations/organization.js'
import { MAX_DEPTH, readBoundedPage, tooDeep } from '../../model/page.js'
import { Problem } from '../../model/problem.js'
import {
  findBroadcast,
  listAllBroadcasts,
  listBroadcasts as listBroadcastRows,
} from '../../storage/broadcasts/broadcasts.js'
import {
  findOneOffBroadcast,
  findRecipientOfOneOff,
  listOneOffBroadcasts,
} from '../../storage/broadcasts/one-off-sends.js'
import { countOutstandingRecipients, listBroadcastRecipients } from '../../storage/broadcasts/recipients.js'
import { listBroadcastsUnderWay } from '../../storage/broadcasts/restored.js'

type Reader = Pick<Context, 'database'>

/** One broadcast, not a one-off send. Throws broadcast_not_found. */
export async function getBroadcast(ctx: Reader, organization: Organization, id: string): Promise<Broadcast> {
  const broadcast = await findBroadcast(ctx.database, organization.id, id)
  if (broadcast) return broadcast
  throw new Problem('broadcast_not_found', `No broadcast with the id ${id} in this organization`)
}

/** One broadcast or one-off send. Throws broadcast_not_found. */
export async function showBroadcast(ctx: Reader, organization: Organization, id: string): Promise<ShownBroadcast> {
  const oneOff = await findOneOffBroadcast(ctx.database, organization.id, id)
  return oneOff ?? getBroadcast(ctx, organization, id)
}

/** Which broadcasts to list; pages count from 1. */
export interface BroadcastQuery {
  kind: 'broadcast' | 'single'
  /** For broadcasts only. */
  status: BroadcastStatus | null
  page: number
  limit: number
}

/**
 * A page of broadcasts, or of one-off sends, newest first, and the total. Throws invalid_parameter (page too deep).
 */
export function listBroadcasts(
  ctx: Reader,
  organization: Organization,
  { kind, status, page, limit }: BroadcastQuery,
): Promise<{ broadcasts: ShownBroadcast[]; total: number }> {
  return readBoundedPage({ page, limit }, 'Older ones are found by their ids', (offset, limit) =>
    kind === 'single'
      ? listOneOffBroadcasts(ctx.database, organization.id, { limit, offset })
      : listBroadcastRows(ctx.database, organization.id, { status, limit, offset }),
  )
}

/** A page of the broadcasts of all organizations, newest first, with the slugs of these, for operators. */
export function listBroadcastsOfAll(
  { database }: Reader,
  { status, page, limit }: Omit<BroadcastQuery, 'kind'>,
): Promise<(Broadcast & { organization: string })[]> {
  return listAllBroadcasts(database, { status, limit, offset: (page - 1) * limit })
}

/** A broadcast that a new history of the database pauses. */
export interface Interrupted {
  id: string
  name: string
  /** The organization's slug. */
  organization: string
  status: BroadcastStatus
  /** How many recipients have no message; if `prepared` is false, more are to come. */
  withoutMessage: number
  prepared: boolean
}

/** The broadcasts that wait for somebody once a service starts on a restored database, oldest first, for operators. */
export async function listInterrupted({
  database,
  clock,
}: Pick<Context, 'database' | 'clock'>): Promise<Interrupted[]> {
  const found = await listBroadcastsUnderWay(database, clock())
  return found.map(({ id, name, organization, status, counters, is_prepared: prepared }) => {
    const { total = 0, recorded = 0 } = counters
    return { id, name, organization, status, withoutMessage: total - recorded, prepared }
  })
}

/** Which recipients to list; pages count from 1. */
export interface RecipientQuery {
  status: RecipientStatus | null
  page: number
  limit: number
}

/** How many recipients of a broadcast are looked at for a status that no index finds. */
export const LOOKED_THROUGH = 100_000

/**
 * A page of a broadcast's recipients in their order, and the total. Throws broadcast_not_found, invalid_parameter (page
 * too deep, too few of the status among the first recipients).
 */
export async function listRecipients(
  ctx: Reader,
  organization: Organization,
  broadcastId: string,
  { status, page, limit }: RecipientQuery,
): Promise<{ recipients: Recipient[]; total: number }> {
  const oneOff = await findRecipientOfOneOff(ctx.database, organization.id, broadcastId)
  if (oneOff) {
    const fits = status === null || oneOff.status === status
    return { recipients: fits && page === 1 ? [oneOff] : [], total: fits ? 1 : 0 }
  }
  const broadcast = await getBroadcast(ctx, organization, broadcastId)
  const outstanding = await countOutstandingRecipients(ctx.database, organization.id, broadcastId)
  const total = countByStatus(broadcast, outstanding, status)
  const offset = (page - 1) * limit
  // The statement would read all recipients to find none.
  if (offset >= total) return { recipients: [], total }
  // All recipients are read by their numbers, from any one.
  if (status !== null && offset >= MAX_DEPTH) throw tooDeep(page, 'With format=csv you get all')
  const range = {
    status,
    isCancelled: broadcast.status === 'cancelled',
    after: 0,
    lookThrough: LOOKED_THROUGH,
    offset,
    limit,
  }
  const recipients = await listBroadcastRecipients(ctx.database, organization.id, broadcastId, range)
  if (broadcast.prepared_n > LOOKED_THROUGH && recipients.length < Math.min(limit, total - offset)) throw tooRare(range)
  return { recipients, total }
}

function tooRare({ status }: Pick<RecipientQuery, 'status'>): Problem {
  return new Problem(
    'invalid_parameter',
    `the first ${LOOKED_THROUGH} recipients, which are all that are looked through, have too few of status "${status}" ` +
      'for this page. With format=csv you get all',
  )
}

const EXPORT_BATCH = 1_000

/**
 * All recipients of a broadcast in their order, optionally of one status. Throws broadcast_not_found before the first
 * one.
 */
export async function eachRecipient(
  ctx: Reader,
  organization: Organization,
  broadcastId: string,
  status: RecipientStatus | null,
): Promise<AsyncGenerator<Recipient>> {
  const oneOff = await findRecipientOfOneOff(ctx.database, organization.id, broadcastId)
  if (oneOff) return readOneOff(oneOff, status)
  const broadcast = await getBroadcast(ctx, organization, broadcastId)
  return readAll(ctx, broadcast, status)
}

async function* readOneOff(oneOff: Recipient, status: RecipientStatus | null): AsyncGenerator<Recipient> {
  if (status === null || oneOff.status === status) yield oneOff
}

async function* readAll(
  { database }: Reader,
  { organization_id, id, status: broadcastStatus }: Broadcast,
  status: RecipientStatus | null,
): AsyncGenerator<Recipient> {
  let after = 0
  for (;;) {
    const range = {
      status,
      isCancelled: broadcastStatus === 'cancelled',
      after,
      lookThrough: null,
      offset: 0,
      limit: EXPORT_BATCH,
    }
    const recipients = await listBroadcastRecipients(database, organization_id, id, range)
    yield* recipients
    if (recipients.length < EXPORT_BATCH) return
    after = (recipients.at(-1) as Recipient).n
  }
}

/** Uses the counters, since a broadcast may have a million recipients. */
function countByStatus(broadcast: Broadcast, outstanding: number, status: RecipientStatus | null): number {
  const { recorded = 0, delivered = 0, read = 0, failed = 0 } = broadcast.counters
  const { total, skipped } = countRecipients(broadcast)
  switch (status) {
    case null:
      return total + skipped
    case 'skipped':
      return skipped
    case 'pending':
      return total - recorded + outstanding
    case 'sent':
      return recorded - outstanding - delivered - failed
    case 'delivered':
      return delivered - read
    case 'read':
      return read
    case 'failed':
      return failed
  }
}
