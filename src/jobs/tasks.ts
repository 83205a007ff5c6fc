import type { WorkContext } from '../context.js'
import { prepareBroadcastAsJob } from '../core/broadcasts/prepare.js'
import { reconcileBroadcasts, startDueBroadcast } from '../core/broadcasts/reconcile.js'
import { type SendState, sendBroadcast } from '../core/broadcasts/send-broadcast.js'
import { removeAudienceRecipients } from '../core/broadcasts/uploaded-audiences.js'
import { importPhoneHistory } from '../core/callbacks/import-phone-history.js'
import { type ErasedRows, eraseContactRows } from '../core/contacts/erase-contact.js'
import { eraseTraces, type Traces } from '../core/contacts/erase-traces.js'
import { indexConversation } from '../core/conversations/search.js'
import { expireOutcomes, prune, rollUpCounts } from '../core/maintenance/maintenance.js'
import { deleteOrganizationData } from '../core/maintenance/organization-deletion.js'
import { applyRetention, type RetentionPosition } from '../core/maintenance/retention.js'
import { fetchInboundMedia } from '../core/media/fetch-inbound.js'
import { removeMediaAsJob } from '../core/media/remove.js'
import { transcribeVoiceNote } from '../core/media/transcribe.js'
import { checkNumberAsJob, scheduleNumberChecks } from '../core/organizations/connecting/check.js'
import { sendDueMessage } from '../core/scheduled/send-due.js'
import { type OrderList, scheduleOrderSyncs, syncOrdersAsJob } from '../core/storefront/sync.js'
import { scheduleTemplateSyncs, syncTemplatesAsJob, type TemplateList } from '../core/templates/sync.js'
import { sweepWebhook } from '../core/webhooks/log.js'
import type { JobTask, RunJob } from '../model/jobs.js'
import { tellPlaceholder } from '../storage/messages/placeholders.js'
import { type RecurringTask, untilNextRun } from './recurring.js'

/** The code of each task. */
export function createTasks(ctx: WorkContext): Record<JobTask, RunJob> {
  return { ...tasksOfOrganizations(ctx), ...recurringTasks(ctx) }
}

function tasksOfOrganizations(ctx: WorkContext): Record<Exclude<JobTask, RecurringTask>, RunJob> {
  return {
    fetch_media: ({ organizationId, payload, attempt, signal }) => {
      const { messageId } = payload as { messageId: string }
      return fetchInboundMedia(ctx, organizationId, messageId, { number: attempt, signal })
    },
    transcribe_voice_note: ({ organizationId, payload, attempt, signal }) => {
      const { messageId } = payload as { messageId: string }
      return transcribeVoiceNote(ctx, organizationId, messageId, { number: attempt, signal })
    },
    start_broadcast: ({ organizationId, payload }) => {
      const { broadcastId } = payload as { broadcastId: string }
      return startDueBroadcast(ctx, organizationId, broadcastId)
    },
    send_scheduled: ({ organizationId, payload, signal }) => {
      const { scheduledId } = payload as { scheduledId: string }
      return sendDueMessage(ctx, organizationId, scheduledId, signal)
    },
    send_broadcast: ({ organizationId, payload, ...job }) =>
      sendBroadcast(ctx, organizationId, payload as SendState, job),
    prepare_broadcast: ({ organizationId, payload, ...job }) => {
      const { broadcastId } = payload as { broadcastId: string }
      return prepareBroadcastAsJob(ctx, organizationId, broadcastId, job)
    },
    index_conversation: ({ organizationId, payload, signal }) => {
      const { contactId } = payload as { contactId: string }
      return indexConversation(ctx, organizationId, contactId, signal)
    },
    tell_placeholder: ({ organizationId, payload }) => {
      const { messageId } = payload as { messageId: string }
      return tellPlaceholder(ctx.database, organizationId, messageId)
    },
    import_phone_history: ({ organizationId, signal }) => importPhoneHistory(ctx, organizationId, signal),
    sync_templates: ({ organizationId, payload, requestedAt }) => {
      const { list = null } = payload as { list?: TemplateList | null }
      return syncTemplatesAsJob(ctx, organizationId, requestedAt, list)
    },
    sync_orders: ({ organizationId, payload }) => {
      const { list = null } = payload as { list?: OrderList | null }
      return syncOrdersAsJob(ctx, organizationId, list)
    },
    check_number: ({ organizationId }) => checkNumberAsJob(ctx, organizationId),
    erase_contact: ({ organizationId, payload, signal }) =>
      eraseContactRows(ctx, organizationId, payload as ErasedRows, signal),
    erase_traces: ({ organizationId, payload }) => eraseTraces(ctx, organizationId, payload as Traces),
    remove_media: ({ organizationId, payload }) => {
      const { mediaIds } = payload as { mediaIds: string[] }
      return removeMediaAsJob(ctx, organizationId, mediaIds)
    },
    remove_audience: ({ organizationId, payload, signal }) => {
      const { audienceId } = payload as { audienceId: string }
      return removeAudienceRecipients(ctx, organizationId, audienceId, signal)
    },
    sweep_webhook: ({ organizationId, payload }) => {
      const { webhookId } = payload as { webhookId: string }
      return sweepWebhook(ctx, organizationId, webhookId)
    },
    delete_organization: ({ organizationId, payload, signal }) => {
      const { isLast } = payload as { isLast: boolean }
      return deleteOrganizationData(ctx, organizationId, isLast, signal)
    },
    apply_retention: ({ organizationId, payload, signal }) => {
      return applyRetention(ctx, organizationId, payload as Partial<RetentionPosition>, signal)
    },
  }
}

function recurringTasks(ctx: WorkContext): Record<RecurringTask, RunJob> {
  const recurring =
    (task: RecurringTask, work: (ctx: WorkContext, signal: AbortSignal) => ReturnType<RunJob>): RunJob =>
    async ({ signal }) =>
      (await work(ctx, signal)) ?? { againInMs: untilNextRun(task, ctx.clock()) }
  return {
    expire_outcomes: recurring('expire_outcomes', expireOutcomes),
    roll_up_counts: recurring('roll_up_counts', rollUpCounts),
    reconcile_broadcasts: recurring('reconcile_broadcasts', reconcileBroadcasts),
    prune: recurring('prune', prune),
    sync_all_templates: recurring('sync_all_templates', scheduleTemplateSyncs),
    sync_all_orders: recurring('sync_all_orders', scheduleOrderSyncs),
    check_all_numbers: recurring('check_all_numbers', scheduleNumberChecks),
  }
}
