import type { JobHelpers, Task } from 'graphile-worker'
import type { Context } from '../context.js'
import { prepareBroadcast } from '../core/broadcasts/prepare.js'
import { reconcileBroadcasts } from '../core/broadcasts/reconcile.js'
import { type ShardState, sendBroadcastShard } from '../core/broadcasts/send-shard.js'
import { indexConversation } from '../core/conversations/search.js'
import { fetchInboundMedia } from '../core/media/fetch-inbound.js'
import type { JobAttempt } from '../core/media/job-attempt.js'
import { removeMedia } from '../core/media/remove.js'
import { transcribeVoiceNote } from '../core/media/transcribe.js'
import { createCallbackProcessor } from '../core/messages/receive/callback-processor.js'
import { deleteOrganizationData } from '../core/organizations/deletion.js'
import { eraseTraces, expireOutcomes, prune, rollUpCounts } from '../core/runtime/maintenance.js'
import { scheduleOrderSyncs, syncOrdersAsJob } from '../core/storefront/sync.js'
import { scheduleTemplateSyncs, syncTemplatesAsJob } from '../core/templates/sync.js'
import { sweepWebhook } from '../core/webhooks/log.js'

/** The names of all job tasks; `migrate` registers them with the queue. */
export const TASK_NAMES = [
  'receive_callback',
  'erase_traces',
  'sweep_organization',
  'delete_organization',
  'settle_outcomes',
  'prune',
  'fetch_media',
  'transcribe_voice_note',
  'remove_media',
  'index_conversation',
  'fold_counts',
  'sync_templates',
  'sync_all_templates',
  'sync_orders',
  'sync_all_orders',
  'prepare_broadcast',
  'send_broadcast',
  'tend_broadcasts',
  'sweep_webhook',
] as const

/**
 * Separate worker pools for tasks that wait for other servers or move much data, with their concurrency, so that
 * callbacks never wait for them, and urgent files never wait for less urgent work. Each running job takes a database
 * connection.
 */
export const WORKER_POOLS: readonly { tasks: readonly string[]; concurrency: number }[] = [
  { tasks: ['fetch_media'], concurrency: 8 },
  { tasks: ['send_broadcast'], concurrency: 16 },
  { tasks: ['prepare_broadcast'], concurrency: 2 },
  {
    tasks: [
      'transcribe_voice_note',
      'remove_media',
      'index_conversation',
      'sync_templates',
      'sync_orders',
      'sweep_webhook',
      'sweep_organization',
      'delete_organization',
    ],
    concurrency: 4,
  },
]

/** The schedule of recurring tasks. */
export const CRONTAB = [
  '* * * * * settle_outcomes',
  '* * * * * fold_counts',
  '* * * * * tend_broadcasts',
  '17 3 * * * prune',
  '23 * * * * sync_all_templates',
  '41 * * * * sync_all_orders',
].join('\n')

/** The code of each task. The payload of a tenant's job names its organization. */
export function createTasks(ctx: Context): Record<(typeof TASK_NAMES)[number], Task> {
  const callbacks = createCallbackProcessor(ctx)
  return {
    receive_callback: (payload: unknown) => {
      const { organizationId, callbackId } = payload as { organizationId: string; callbackId: string }
      return callbacks.process(organizationId, callbackId)
    },
    erase_traces: (payload: unknown) => {
      const { organizationId, contactId, addresses } = payload as {
        organizationId: string
        contactId: string
        addresses: string[]
      }
      return eraseTraces(ctx, organizationId, contactId, addresses)
    },
    // Jobs of older versions, which deleted an organization in one transaction.
    sweep_organization: (payload: unknown, { abortSignal }: JobHelpers) => {
      const { organizationId } = payload as { organizationId: string }
      return deleteOrganizationData(ctx, organizationId, true, abortSignal)
    },
    delete_organization: async (payload: unknown, { abortSignal }: JobHelpers) => {
      const { organizationId, isLast } = payload as { organizationId: string; isLast: boolean }
      await deleteOrganizationData(ctx, organizationId, isLast, abortSignal)
    },
    fetch_media: (payload: unknown, helpers: JobHelpers) => {
      const { organizationId, messageId } = payload as { organizationId: string; messageId: string }
      return fetchInboundMedia(ctx, organizationId, messageId, toJobAttempt(helpers))
    },
    transcribe_voice_note: (payload: unknown, helpers: JobHelpers) => {
      const { organizationId, messageId } = payload as { organizationId: string; messageId: string }
      return transcribeVoiceNote(ctx, organizationId, messageId, toJobAttempt(helpers))
    },
    remove_media: (payload: unknown) => {
      const { organizationId, mediaIds } = payload as { organizationId: string; mediaIds: string[] }
      return removeMedia(ctx, organizationId, mediaIds)
    },
    index_conversation: (payload: unknown, { abortSignal }: JobHelpers) => {
      const { organizationId, contactId } = payload as { organizationId: string; contactId: string }
      return indexConversation(ctx, organizationId, contactId, abortSignal)
    },
    prepare_broadcast: async (payload: unknown, { abortSignal }: JobHelpers) => {
      const { organizationId, broadcastId } = payload as { organizationId: string; broadcastId: string }
      await prepareBroadcast(ctx, organizationId, broadcastId, () => !abortSignal?.aborted)
      ctx.wakeWorkers()
    },
    send_broadcast: (payload: unknown, { abortSignal }: JobHelpers) => {
      const { organizationId, broadcastId, ...shard } = payload as {
        organizationId: string
        broadcastId: string
      } & ShardState
      return sendBroadcastShard(ctx, organizationId, broadcastId, shard, abortSignal)
    },
    tend_broadcasts: () => reconcileBroadcasts(ctx),
    settle_outcomes: () => expireOutcomes(ctx),
    sync_templates: (payload: unknown, { job }: JobHelpers) => {
      const { organizationId } = payload as { organizationId: string }
      return syncTemplatesAsJob(ctx, organizationId, job.created_at)
    },
    sync_all_templates: () => scheduleTemplateSyncs(ctx),
    sync_orders: (payload: unknown, { abortSignal }: JobHelpers) => {
      const { organizationId } = payload as { organizationId: string }
      return syncOrdersAsJob(ctx, organizationId, abortSignal)
    },
    sync_all_orders: () => scheduleOrderSyncs(ctx),
    sweep_webhook: (payload: unknown) => {
      const { organizationId, webhookId } = payload as { organizationId: string; webhookId: string }
      return sweepWebhook(ctx, organizationId, webhookId)
    },
    fold_counts: () => rollUpCounts(ctx),
    prune: () => prune(ctx),
  }
}

function toJobAttempt({ job, abortSignal }: JobHelpers): JobAttempt {
  return { number: job.attempts, signal: abortSignal }
}
