import type { SendResult } from '../../core/messages/send/outcome.js'
import { Problem } from '../../model/problem.js'

/** A send that failed for another reason than a refusal. */
export type Unsent = Exclude<SendResult, { result: 'accepted' | 'refused' }>

/**
 * The problem of a send that was neither refused nor accepted; `network` is the interface's name for the other side.
 */
export function explainUnsent(sent: Unsent, network: 'upstream' | 'network'): Problem {
  const { messageId: id } = sent
  switch (sent.result) {
    case 'unavailable':
      return new Problem('upstream_unavailable', `The ${network} did not accept the message: try again later`, {
        details: sent.text,
        retryable: true,
        id,
      })
    case 'limited': {
      const seconds = Math.max(1, Math.ceil(sent.retryAfterMs / 1_000))
      return new Problem('too_many_requests', `The ${network}'s rate limit is reached: try again in ${seconds} s`, {
        details: sent.text,
        retry_after: seconds,
        id,
      })
    }
    case 'unknown':
      return new Problem(
        'outcome_unknown',
        `The message was sent, but no answer came. Parley does not send it again; its status changes when the ${network} reports it`,
        { retryable: false, id },
      )
  }
}
