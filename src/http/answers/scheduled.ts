import type { RepeatableAnswer } from '../../core/requests/idempotency.js'
import { presentScheduled, type ShownScheduled } from '../../model/messages/scheduled.js'

/** The answer to a send that happens later. */
export function toScheduledAnswer(scheduled: ShownScheduled): RepeatableAnswer {
  const shown = presentScheduled(scheduled)
  const message = `The message will be sent at ${shown.scheduled_at}`
  return { status: 202, body: { success: true, message, scheduled: shown }, final: true }
}
