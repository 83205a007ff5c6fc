import { setTimeout } from 'node:timers/promises'
import type { Context } from '../../../context.js'
import { isDatabaseUnavailable } from '../../../database/errors.js'
import { backoffDelay } from '../../../lib/async/backoff.js'
import type { FailureNote, RepeatedNote } from '../../../model/messages/trace.js'
import { noteAnswer } from '../../../storage/messages/outgoing.js'

type NoteContext = Pick<Context, 'database' | 'clock' | 'log'>

/** About two minutes: a request that got no outcome from the database has nothing else to say it by. */
const ATTEMPTS = 8
const BACKOFF = { baseMs: 1_000, maxMs: 30_000, jitter: 0.5 }
const MAX_TEXT = 300

/** Notes on the message with this id, if there is one, that a repeated request got its answer. Never rejects. */
export async function noteRepeat(
  ctx: NoteContext,
  organizationId: string,
  messageId: string,
  requestId: string,
): Promise<void> {
  const note: RepeatedNote = { k: 'repeated', at: ctx.clock().getTime(), request: requestId }
  await noteAnswer(ctx.database, organizationId, messageId, note).catch(tellFailure(ctx, messageId))
}

/** A failure as a request was answered with it. */
export interface ToldFailure {
  requestId: string
  status: number
  text: string
}

/**
 * Notes on the message with this id with which failure its request was answered. If the database is away, which may be
 * the reason of the failure, tries again for a while. Never rejects.
 */
export async function noteFailure(
  ctx: NoteContext,
  organizationId: string,
  messageId: string,
  { requestId, status, text }: ToldFailure,
): Promise<void> {
  const at = ctx.clock().getTime()
  const note: FailureNote = { k: 'failure', at, request: requestId, status, text: text.slice(0, MAX_TEXT) }
  for (let attempt = 1; ; attempt++) {
    try {
      return await noteAnswer(ctx.database, organizationId, messageId, note)
    } catch (error) {
      if (attempt === ATTEMPTS || !isDatabaseUnavailable(error)) return tellFailure(ctx, messageId)(error)
    }
    // A process that has nothing else to do ends.
    await setTimeout(backoffDelay(attempt, BACKOFF), undefined, { ref: false })
  }
}

function tellFailure({ log }: NoteContext, messageId: string): (error: unknown) => void {
  return (error) =>
    log.warn({ err: error, messageId }, "the answer to a send could not be noted in the message's trace")
}
