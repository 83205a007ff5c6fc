import type { Context } from '../../context.js'
import { Problem } from '../../model/problem.js'
import {
  countPending,
  expirePending,
  findOverfullWebhooks,
  listDisabledWebhooks,
} from '../../storage/webhooks/backlog.js'
import { lockFeed } from '../../storage/webhooks/feeds.js'
import { disableWebhook } from '../../storage/webhooks/health.js'

/** A range is not replayed while more deliveries of the webhook are pending. */
export const MAX_PENDING_FOR_REPLAY = 100_000
/** A webhook with more pending deliveries is disabled. */
const MAX_PENDING = 1_000_000
/** If the webhooks of an organization have more together, those with most are disabled. */
const MAX_PENDING_TOGETHER = 2_000_000
const RETRY_SECONDS = 60
const BATCH = 5_000

/** Refuses a replay while too many deliveries of the webhook are pending. Throws too_many_requests. */
export async function requireReplayable(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  webhookId: string,
): Promise<void> {
  const pending = await countPending(database, organizationId, webhookId, MAX_PENDING_FOR_REPLAY + 1)
  if (pending <= MAX_PENDING_FOR_REPLAY) return
  throw new Problem(
    'too_many_requests',
    `More than ${MAX_PENDING_FOR_REPLAY} deliveries of the webhook ${webhookId} are pending: replay when fewer are, or delete the webhook and set it again`,
    { retry_after: RETRY_SECONDS },
  )
}

/** Disables the webhooks that have too many pending deliveries, alone or together. Of all organizations. */
export async function disableOverfullWebhooks(
  { database, log }: Pick<Context, 'database' | 'log'>,
  max = MAX_PENDING,
  maxTogether = MAX_PENDING_TOGETHER,
): Promise<void> {
  for (const { organization_id: organizationId, id, isFull } of await findOverfullWebhooks(
    database,
    max,
    maxTogether,
  )) {
    const reason = isFull
      ? `More than ${max} deliveries were pending`
      : `More than ${maxTogether} deliveries of the organization's webhooks were pending, and this webhook was one of those with the most`
    await disableWebhook(database, organizationId, id, reason)
    log.warn({ organizationId, webhookId: id, reason }, 'a webhook is disabled')
  }
}

/** Ends pending deliveries of disabled webhooks that are older than what their organization keeps. */
export async function expireDisabledWebhooks({ database, clock }: Pick<Context, 'database' | 'clock'>): Promise<void> {
  const reason = 'the webhook was disabled for longer than deliveries are kept'
  for (const webhook of await listDisabledWebhooks(database)) {
    const expireBatch = () =>
      database.transaction(async (transaction) => {
        await lockFeed(transaction, webhook.organization_id)
        return expirePending(transaction, webhook, { now: clock(), limit: BATCH, reason })
      })
    while ((await expireBatch()) === BATCH);
  }
}
