import type { Context } from '../context.js'
import type { CallbackContent } from './batches.js'
import type { Attempt } from './callback-sender.js'

/** Sends a callback of a business number and waits for its first attempt; `status` is null without an answer. */
export function firstAttempt(
  context: Context,
  phoneNumberId: string,
  content: CallbackContent,
  repeat: boolean,
): Promise<{ delivered: boolean; status: number | null }> {
  return new Promise((resolve) => {
    const onAttempt = ({ outcome, status }: Attempt) => resolve({ delivered: outcome === 'accepted', status })
    context.sender.send({ phoneNumberId, content, repeat, onAttempt })
  })
}
