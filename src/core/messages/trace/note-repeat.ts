import type { Context } from '../../../context.js'
import { noteRepeatedAnswer } from '../../../storage/messages/outgoing.js'

/** Notes on the message with this id, if there is one, that a repeated request got its answer. Never rejects. */
export async function noteRepeat(
  ctx: Pick<Context, 'database' | 'clock' | 'log'>,
  organizationId: string,
  messageId: string,
  requestId: string,
): Promise<void> {
  const note = { k: 'repeated', at: ctx.clock().getTime(), request: requestId } as const
  await noteRepeatedAnswer(ctx.database, organizationId, messageId, note).catch((error: unknown) =>
    ctx.log.warn({ err: error, organizationId, messageId, requestId }, 'a repeated answer could not be noted'),
  )
}
