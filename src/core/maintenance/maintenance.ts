import type { Context, WorkContext } from '../../context.js'
import { isDatabaseFull, isDatabaseUnavailable } from '../../database/errors.js'
import { idBefore } from '../../lib/bytes/id.js'
import { UNDO_MS } from '../../model/contacts/merge.js'
import { OUTCOME_UNKNOWN } from '../../model/messages/message.js'
import { pruneBroadcastRetries } from '../../storage/broadcasts/retries.js'
import { pruneUploadedAudiences } from '../../storage/broadcasts/uploaded-audiences.js'
import {
  type CallbackFigures,
  listBackloggedOrganizations,
  pruneCallbacks,
  readCallbackFigures,
} from '../../storage/callbacks/callbacks.js'
import { pruneNotices } from '../../storage/callbacks/notices.js'
import { showMissingUserIds } from '../../storage/contacts/addresses.js'
import { pruneErasedAddresses, REMEMBERED_DAYS } from '../../storage/contacts/erased-addresses.js'
import { rollUpContactCounts } from '../../storage/contacts/lists.js'
import { pruneMerges } from '../../storage/contacts/merge-journal.js'
import { rollUpCampaignCounts } from '../../storage/counts/campaigns.js'
import { rollUpChannelCounts } from '../../storage/counts/channels.js'
import { pruneEvents } from '../../storage/events/events.js'
import { tickTransactionClock } from '../../storage/events/transaction-clock.js'
import { pruneSessions } from '../../storage/identity/sessions.js'
import { pruneFailures, trimFailures } from '../../storage/identity/sign-in-failures.js'
import { pruneSignInLinks } from '../../storage/identity/sign-in-links.js'
import { pruneCommands } from '../../storage/instances/commands.js'
import { hastenPruning, requestRetention } from '../../storage/maintenance/pruning.js'
import { measureTables, type TableSize } from '../../storage/maintenance/tables.js'
import { KEPT_DAYS, pruneEarlyStatuses } from '../../storage/messages/early-statuses.js'
import { listOverdueMessages, markAbandonedMessages, refuseMessage } from '../../storage/messages/outgoing.js'
import { noteUptime } from '../../storage/processes/process-registry.js'
import { pruneIdempotencyKeys } from '../../storage/requests/idempotency.js'
import { pruneScheduled } from '../../storage/scheduled/pruning.js'
import { pruneStorefrontWebhooks } from '../../storage/storefront/orders.js'
import { pruneShortLinkVisits, rollUpShortLinkClicks } from '../../storage/storefront/short-links.js'
import { pruneDeliveries } from '../../storage/webhooks/log.js'
import { removeUnattachedMedia } from '../media/remove.js'
import { removeExpiredUploads } from '../media/uploaded-files.js'
import { disableOverfullWebhooks, expireDisabledWebhooks } from '../webhooks/backlog.js'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/**
 * Longer than a request (25 s). The process of a message that is still pending then is dead, or the message belongs to
 * a broadcast that keeps retrying.
 */
const ABANDONED_MS = MINUTE_MS / 2
const GIVE_UP_MS = 15 * MINUTE_MS
/**
 * A callback that has been waiting longer may contain the outcome of a message. Under steady traffic some callbacks are
 * always waiting, but not this long.
 */
const BACKLOG_MS = MINUTE_MS
/** A callback that failed more often (usually within a minute) no longer delays the outcomes of its organization. */
const MAX_DELAYING_ATTEMPTS = 3
const BATCH = 500
/** Guesses with invented names leave rows too, faster than the daily job deletes them. */
const MAX_SIGN_IN_FAILURES = 100_000
const ROLL_UP_BATCH = 10_000
const PRUNE_BATCH = 5_000
/** Deletions and counts read whole tables. */
const SLOW_STATEMENT_MS = 30 * MINUTE_MS

/**
 * Marks a message failed with `outcome_unknown` if no callback reports its outcome within 15 minutes. Only time counts
 * in which the service was up and had processed the organization's stored callbacks. Also deletes expired commands of
 * linked devices, uploaded files that have expired, and the oldest failures to sign in if there are too many.
 */
export async function expireOutcomes(ctx: Context): Promise<void> {
  const now = ctx.clock()
  await runSteps(ctx, {
    transactionClock: () => tickTransactionClock(ctx.database),
    commands: () => pruneCommands(ctx.database),
    signInFailures: () => trimFailures(ctx.database, MAX_SIGN_IN_FAILURES),
    outcomes: async () => {
      const upSince = await noteUptime(ctx.database, now)
      await markAbandonedMessages(ctx.database, before(now, ABANDONED_MS))
      if (upSince <= before(now, GIVE_UP_MS)) await refuseOverdue(ctx, now)
    },
    uploadedFiles: () => removeExpiredUploads(ctx),
  })
}

async function refuseOverdue(ctx: Context, now: Date): Promise<void> {
  const deadline = before(now, GIVE_UP_MS)
  const backlogged = await listBackloggedOrganizations(ctx.database, before(now, BACKLOG_MS), MAX_DELAYING_ATTEMPTS)
  const error = { code: OUTCOME_UNKNOWN, text: 'The upstream did not report whether it accepted the message' }
  const note = { k: 'settled', at: now.getTime() } as const
  const failed: string[] = []
  for (;;) {
    const overdue = await listOverdueMessages(ctx.database, deadline, { organizations: backlogged, ids: failed }, BATCH)
    for (const { organization_id: organizationId, id } of overdue) {
      try {
        await refuseMessage(ctx.database, organizationId, id, { error, at: now, note })
      } catch (problem) {
        if (isDatabaseUnavailable(problem)) throw problem
        failed.push(id)
        ctx.log.error({ err: problem, organizationId, messageId: id }, 'an overdue message could not be settled')
      }
    }
    if (overdue.length < BATCH) return
  }
}

/**
 * Runs the steps one after the other. One that fails stops no other; then it throws, so that all are repeated. Ends at
 * once if the signal is aborted or the database is unavailable.
 */
async function runSteps(
  { log }: Pick<Context, 'log'>,
  steps: Record<string, () => Promise<unknown>>,
  signal?: AbortSignal,
): Promise<void> {
  const failed: string[] = []
  for (const [step, run] of Object.entries(steps)) {
    signal?.throwIfAborted()
    try {
      await run()
    } catch (error) {
      // On a full disk, other steps may still delete, which makes room.
      if (isDatabaseUnavailable(error) && !isDatabaseFull(error)) throw error
      log.error({ err: error, step }, 'a step of the maintenance failed; the other steps continue')
      failed.push(step)
    }
  }
  if (failed.length > 0) throw new Error(`steps of the maintenance failed: ${failed.join(', ')}`)
}

/** Orders of the last 60 days are read at first, and one may be attributed to a click 90 days before it. */
const VISITS_MS = 150 * DAY_MS
const NOTICES_MS = 180 * DAY_MS
const ERASURES_MS = REMEMBERED_DAYS * DAY_MS
const EARLY_STATUSES_MS = KEPT_DAYS * DAY_MS

/** Has the workers prune now. False: they do so already; null: no worker has run yet. */
export async function startPruning({ database }: Pick<Context, 'database'>): Promise<boolean | null> {
  const isRunning = await hastenPruning(database)
  return isRunning === null ? null : !isRunning
}

/**
 * Deletes expired data: raw callbacks, events, finished deliveries and scheduled messages that have ended after the days
 * that their organization keeps them; ids of storefront webhooks after 30 days; visits of short links after 150 days;
 * notices after 180; what was erased while a phone's history came in after 30; idempotency keys, files without a message, statuses of unknown messages and wrong passwords after 1 day; merges of contacts when
 * they can no longer be undone; expired sessions, sign-in links and uploaded audiences. Pending deliveries of disabled
 * webhooks that are this old end as failed. Requests the jobs that delete old messages and files, and shows user ids
 * that are known and not shown.
 */
export async function prune(given: WorkContext, signal?: AbortSignal): Promise<void> {
  const ctx = withSlowStatements(given)
  const { database } = ctx
  const now = ctx.clock()
  const inBatches = (work: (limit: number) => Promise<number>) => forBatches(work, PRUNE_BATCH, signal)
  const steps = {
    callbacks: () => inBatches((limit) => pruneCallbacks(database, now, limit)),
    events: () => inBatches((limit) => pruneEvents(database, now, limit)),
    scheduledMessages: () => inBatches((limit) => pruneScheduled(database, now, limit)),
    disabledWebhooks: () => expireDisabledWebhooks(ctx),
    deliveries: () => inBatches((limit) => pruneDeliveries(database, now, limit)),
    shortLinkVisits: () => inBatches((limit) => pruneShortLinkVisits(database, before(now, VISITS_MS), limit)),
    storefrontWebhooks: () => inBatches((limit) => pruneStorefrontWebhooks(database, before(now, 30 * DAY_MS), limit)),
    notices: () => inBatches((limit) => pruneNotices(database, before(now, NOTICES_MS), limit)),
    idempotencyKeys: () => inBatches((limit) => pruneIdempotencyKeys(database, idBefore(before(now, DAY_MS)), limit)),
    retention: () => requestRetention(database),
    uploadedAudiences: () => pruneUploadedAudiences(database, now),
    broadcastRetries: () => pruneBroadcastRetries(database, before(now, 2 * DAY_MS)),
    earlyStatuses: () => inBatches((limit) => pruneEarlyStatuses(database, before(now, EARLY_STATUSES_MS), limit)),
    erasures: () => inBatches((limit) => pruneErasedAddresses(database, before(now, ERASURES_MS), limit)),
    merges: () => inBatches((limit) => pruneMerges(database, before(now, UNDO_MS), limit)),
    userIds: () => inBatches((limit) => showMissingUserIds(database, limit)),
    sessions: () => pruneSessions(database, now),
    signInLinks: () => pruneSignInLinks(database, now),
    signInFailures: () => pruneFailures(database, before(now, DAY_MS)),
    unattachedMedia: () => removeUnattachedMedia(ctx, before(now, DAY_MS)),
  }
  await runSteps(ctx, steps, signal)
}

/** In batches, so that nothing is locked for long. `work` handles at most `limit` rows and returns their number. */
async function forBatches(
  work: (limit: number) => Promise<number>,
  limit: number,
  signal?: AbortSignal,
): Promise<void> {
  while ((await work(limit)) === limit) signal?.throwIfAborted()
}

export type { CallbackFigures } from '../../storage/callbacks/callbacks.js'

/** The state of the queue of callbacks, of all organizations. */
export function findCallbackFigures({ database }: Pick<Context, 'database'>): Promise<CallbackFigures> {
  return readCallbackFigures(database)
}

/** The sizes of the tables that grow with traffic, of all organizations. */
export function measureStorage({ database }: Pick<Context, 'database'>): Promise<TableSize[]> {
  return measureTables(database)
}

/** Rolls up the counts that writers have added, and disables webhooks with too many pending deliveries. */
export async function rollUpCounts(ctx: WorkContext): Promise<void> {
  const { database } = ctx
  await runSteps(ctx, {
    contacts: () => rollUpContactCounts(database),
    shortLinks: () => rollUpShortLinkClicks(database),
    channels: () => forBatches((limit) => rollUpChannelCounts(database, limit), ROLL_UP_BATCH),
    campaigns: () => forBatches((limit) => rollUpCampaignCounts(database, limit), ROLL_UP_BATCH),
    webhooks: () => disableOverfullWebhooks(withSlowStatements(ctx)),
  })
}

/** For statements that read whole tables. */
function withSlowStatements(ctx: WorkContext): WorkContext {
  return { ...ctx, database: ctx.database.withStatementTimeout(SLOW_STATEMENT_MS) }
}

function before(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms)
}
