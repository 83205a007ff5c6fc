import type { Context } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { backoffDelay } from '../../lib/async/backoff.js'
import { LATE, LATE_MS } from '../../model/broadcasts/broadcast.js'
import type { Again } from '../../model/jobs.js'
import type { Cause } from '../../model/messages/cause.js'
import { type FileSource, type MessageContent, withFile } from '../../model/messages/content.js'
import type { MessageError } from '../../model/messages/message.js'
import type { Scheduled, UnsentMessage } from '../../model/messages/scheduled.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { HeaderMedia } from '../../model/templates/fill.js'
import { insertUnsentOneOffRecipient, type UnsentOneOff } from '../../storage/broadcasts/one-off-sends.js'
import { findContactById } from '../../storage/contacts/contacts.js'
import { memberExists } from '../../storage/identity/members.js'
import { findMedia } from '../../storage/messages/media.js'
import { findMessage } from '../../storage/messages/messages.js'
import { refuseMessage } from '../../storage/messages/outgoing.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import { findScheduled } from '../../storage/scheduled/scheduled.js'
import {
  claimScheduled,
  deferScheduled,
  failScheduled,
  finishScheduled,
  pauseLateScheduled,
  putBackScheduled,
  takeUnsentMessage,
} from '../../storage/scheduled/sending.js'
import { numberOf } from '../contacts/numbers.js'
import { reopenChannel } from '../instances/send/chosen-channel.js'
import { UploadFailed } from '../media/upload.js'
import { deliverAgain, type NotAccepted, RETRY_BACKOFF, RETRY_MS, waitForJobSlot } from '../messages/send/deliver.js'
import { findSendResult, type SendResult } from '../messages/send/outcome.js'
import { numberBusy, sendAsJob } from '../messages/send/send.js'
import { askedNote, SendLog } from '../messages/send/send-log.js'
import { findHistories } from '../processes/histories.js'
import { tryTemplate, type UnsentTemplate } from '../templates/send.js'

/** What passes by itself: until then the message waits, and is late at some time. */
const PASSING = new Set(['too_many_requests', 'service_unavailable', 'instance_not_open', 'upstream_unavailable'])
/** When to try again if the problem does not say it: after a tenth of the time that it is late, within these. */
const AGAIN_MS = 30_000
const MAX_AGAIN_MS = 5 * 60_000
/** When to look again whether the new history has begun, or whether the earlier messages to the contact are sent. */
const TURN_MS = 500

/** A message whose time has come, as a job has it. */
interface Due {
  ctx: Context
  tenant: Tenant
  scheduled: Scheduled
  signal: AbortSignal
  lateMs: number
}

/**
 * Sends a scheduled message whose time has come, as a job that runs again if it has not, or if something passing is in
 * the way. Its message has the same id, which is recorded once: a job that restarts, or runs in two processes, sends
 * nothing twice. One that cannot be sent is recorded as failed. After a restore, and when its time is long past, it
 * waits for somebody. Once `signal` is aborted, nothing is begun.
 */
export async function sendDueMessage(
  ctx: Context,
  organizationId: string,
  id: string,
  signal: AbortSignal,
): Promise<Again | null> {
  await findHistories(ctx)
  const tenant = await findTenant(ctx.database, organizationId)
  if (tenant === null) return null
  const at = ctx.clock()
  const isClaimed = await claimScheduled(ctx.database, organizationId, id, at)
  const scheduled = await findScheduled(ctx.database, organizationId, id)
  if (scheduled === null) return null
  const lateMs = at.getTime() - new Date(scheduled.scheduled_at).getTime()
  if (!isClaimed) {
    if (scheduled.status !== 'scheduled' && scheduled.status !== 'sending') return null
    // Of many messages to one contact, each looks less often the longer it waits.
    return { againInMs: lateMs < 0 ? -lateMs : Math.min(AGAIN_MS, Math.max(TURN_MS, lateMs / 4)) }
  }
  const due = { ctx, tenant, scheduled, signal, lateMs }
  const message = await findMessage(ctx.database, organizationId, id)
  if (message !== null) {
    const isUnsent = scheduled.unsent !== null && message.outcome !== null
    return isUnsent ? attempt(due, sendAgain) : finish(due, await findSendResult(ctx, tenant, id))
  }
  if (lateMs <= LATE_MS) return attempt(due, send)
  await pauseLateScheduled(ctx.database, organizationId, id)
  ctx.log.warn({ organizationId, scheduledId: id, reason: LATE }, 'a scheduled message was paused')
  return null
}

/** What an attempt leads to. */
type Attempted = SendResult | NotAccepted | UnsentTemplate

async function attempt(due: Due, work: (due: Due) => Promise<Attempted | null>): Promise<Again | null> {
  try {
    const sent = await work(due)
    if (sent === null) return { againInMs: AGAIN_MS }
    if (sent.result === 'not_sent') return await orWait(due, sent.problem, sent)
    return sent.result === 'not_accepted' ? await putBack(due, sent) : await finish(due, sent)
  } catch (problem) {
    if (problem instanceof Problem) return orWait(due, problem, null)
    const { ctx, tenant, scheduled } = due
    await putBackScheduled(ctx.database, tenant.id, scheduled.id, { code: 'internal', text: 'Internal error' })
    throw problem
  }
}

/** Lets the message wait if the problem passes by itself; else it fails. */
async function orWait(due: Due, problem: Problem, unsent: UnsentTemplate | null): Promise<Again | null> {
  const { ctx, tenant, scheduled, lateMs } = due
  const { code, text } = unsent ?? { code: problem.code, text: problem.message }
  const isPassing = problem instanceof UploadFailed ? problem.mayPass : PASSING.has(problem.code)
  if (!isPassing || isOver(due)) return fail(due, { code, text }, unsent?.recipient ?? null)
  await putBackScheduled(ctx.database, tenant.id, scheduled.id, { code, text })
  const { retry_after: seconds } = problem.extras
  if (typeof seconds === 'number') return { againInMs: seconds * 1_000 }
  return { againInMs: Math.min(MAX_AGAIN_MS, Math.max(AGAIN_MS, lateMs / 10)) }
}

/** Whether a message that is recorded already has been tried for too long, or is too late. */
function isOver({ ctx, scheduled: { unsent }, lateMs }: Due, inMs = 0): boolean {
  if (unsent === null) return false
  return lateMs > LATE_MS || ctx.clock().getTime() + inMs - new Date(unsent.since).getTime() > RETRY_MS
}

/** Lets a recorded message that was not accepted wait for another attempt, unless it was tried for too long. */
async function putBack(due: Due, { message, waitMs, note, giveUp }: NotAccepted): Promise<Again | null> {
  const { ctx, tenant, scheduled, signal } = due
  const now = ctx.clock()
  const { since, tries } = scheduled.unsent ?? { since: now.toISOString(), tries: 0 }
  // This process stops, so another one continues at once.
  const inMs = signal.aborted ? 0 : Math.max(waitMs, backoffDelay(tries + 1, RETRY_BACKOFF))
  if (!isOver(due, inMs)) {
    const { chatId, driverMessage } = message
    const { recipient, content, replyToUpstreamId } = driverMessage
    const unsent: UnsentMessage = { since, tries: tries + 1, chatId, recipient, content, replyToUpstreamId }
    const error = { code: 'upstream_unavailable', text: 'WhatsApp does not accept the message at this moment' }
    const again = now.getTime() + Math.round(inMs)
    const deferral = { unsent, error, note: { ...note, again } }
    if (await deferScheduled(ctx.database, tenant.id, scheduled.id, deferral)) return { againInMs: inMs }
  }
  return finish(due, await giveUp())
}

/** The message is in its conversation; null: it was there. */
async function finish({ ctx, tenant, scheduled }: Due, sent: SendResult | null): Promise<null> {
  const isSent = sent === null || sent.result === 'accepted' || sent.result === 'unknown'
  const error = sent && 'text' in sent ? { code: 'code' in sent ? sent.code : sent.result, text: sent.text } : null
  const end = { status: isSent ? 'sent' : 'failed', error, at: ctx.clock() } as const
  await finishScheduled(ctx.database, tenant.id, scheduled.id, end)
  return null
}

/** `recipient`: that of a template's one-off send, which is recorded with the failed message. */
async function fail(due: Due, error: MessageError, recipient: UnsentOneOff | null): Promise<Again | null> {
  const { ctx, tenant, scheduled } = due
  const at = ctx.clock()
  if (scheduled.unsent !== null) {
    const refusal = { error: { ...error, passing: 'unavailable' as const }, at }
    const note = { k: 'settled', at: at.getTime() } as const
    await refuseMessage(ctx.database, tenant.id, scheduled.id, { ...refusal, note })
    return finish(due, await findSendResult(ctx, tenant, scheduled.id))
  }
  const failure = { error, at, asked: askedNote(ctx, causeOf(scheduled)) }
  try {
    await retryOnDeadlock(() =>
      ctx.database.transaction(async (transaction) => {
        const isRecorded = await failScheduled(transaction, tenant.id, scheduled, failure)
        if (isRecorded && recipient) await insertUnsentOneOffRecipient(transaction, tenant.id, recipient)
      }),
    )
    return null
  } catch (failed) {
    // Another process has recorded the message meanwhile.
    if (isUniqueViolation(failed)) return { againInMs: 0 }
    throw failed
  }
}

/** Throws like sendAsJob and tryTemplate. */
async function send({ ctx, tenant, scheduled, signal }: Due): Promise<Attempted> {
  const { id, command, contact_id: contactId, member_id: memberId, instance_id: instanceId } = scheduled
  const contact = await findContactById(ctx.database, tenant.id, contactId)
  if (contact === null) throw new Problem('contact_not_found', 'The contact is erased')
  const isMember = memberId !== null && (await memberExists(ctx.database, tenant.id, memberId))
  // In the name of the organization, if the member has left the team.
  const common = { id, memberId: isMember ? memberId : null, cause: causeOf(scheduled) }
  const file = await findFile(ctx, tenant, scheduled)
  if (command.kind === 'template') {
    const template = { ...command, recipient: { contact }, headerMedia: file, ...common }
    const { sent } = await tryTemplate(ctx, tenant, template, {
      openFor: () => reopenChannel(ctx, tenant, instanceId),
      send: (channel, message) => sendAsJob(ctx, tenant, channel, { command: message, signal }),
    })
    return sent
  }
  const content = file ? withFile(command.content, file.file, file.filename) : (command.content as MessageContent)
  const channel = await reopenChannel(ctx, tenant, instanceId)
  const message = { to: numberOf(contact), content, replyTo: command.replyTo, isPromotional: false, recipient: null }
  return sendAsJob(ctx, tenant, channel, { command: { ...message, ...common }, signal })
}

/** Sends a recorded message that was not accepted. Null if another process does. Throws what passes by itself. */
async function sendAgain(due: Due): Promise<SendResult | NotAccepted | null> {
  const { ctx, tenant, scheduled, signal } = due
  const { id, instance_id: instanceId, unsent } = scheduled
  const { chatId, recipient, content, replyToUpstreamId } = unsent as UnsentMessage
  const channel = await reopenChannel(ctx, tenant, instanceId)
  const log = new SendLog(ctx.clock, null)
  const waitMs = await waitForJobSlot(ctx, tenant, channel, { log, signal })
  if (waitMs !== null) throw numberBusy(waitMs)
  if (!(await takeUnsentMessage(ctx.database, tenant.id, id))) return null
  const driverMessage = { id, recipient, content, replyToUpstreamId }
  return deliverAgain(ctx, channel, { organizationId: tenant.id, id, chatId, driverMessage }, { log, signal })
}

/** The message's stored file; null if it has none. Throws not_found. */
async function findFile(
  ctx: Context,
  tenant: Tenant,
  { id, has_file: hasFile }: Scheduled,
): Promise<HeaderMedia<FileSource> | null> {
  if (!hasFile) return null
  const kept = await findMedia(ctx.database, tenant.id, id)
  if (kept === null) throw new Problem('not_found', 'The file of the message is no longer stored')
  return { file: { kept }, filename: kept.filename }
}

function causeOf({ cause, created_at }: Scheduled): Cause {
  return { ...cause, at: new Date(created_at), trace: null, span: null }
}
