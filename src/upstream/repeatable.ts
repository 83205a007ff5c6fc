import { errorMessage } from '../lib/text/error-message.js'
import { type Answer, bareStatusText } from './answer.js'
import type { RefusalClass } from './errors.js'

/** The outcome of a call that can be repeated, so that it does not matter whether a failed one was carried out. */
export type RepeatableOutcome = { outcome: 'done' } | CallFailure

/** `code` is the upstream's, or the HTTP status if there is none. */
export type CallFailure =
  | { outcome: 'refused'; because: 'request' | 'credentials'; code: number; text: string }
  /** It may succeed later. `code` is null if there was no answer. */
  | { outcome: 'failed'; isLimited: boolean; code: number | null; text: string; retryAfterMs: number | null }

/** The outcome of a call. Never rejects. */
export async function settle(call: Promise<Answer>): Promise<RepeatableOutcome> {
  try {
    return readOutcome(await call)
  } catch (error) {
    const text = `no answer: ${errorMessage(error)}`
    return { outcome: 'failed', isLimited: false, code: null, text, retryAfterMs: null }
  }
}

function readOutcome({ isSuccess, status, error, retryAfterMs }: Answer): RepeatableOutcome {
  if (isSuccess && error === null) return { outcome: 'done' }
  const { kind, code, text } = error ?? { kind: kindOf(status), code: status, text: bareStatusText(status) }
  if (kind === 'credentials') return { outcome: 'refused', because: kind, code, text }
  if (kind === 'limited' || kind === 'busy' || status >= 500) {
    return { outcome: 'failed', isLimited: kind === 'limited', code, text, retryAfterMs }
  }
  return { outcome: 'refused', because: 'request', code, text }
}

/** What an answer without an error body means. */
function kindOf(status: number): RefusalClass {
  if (status === 401 || status === 403) return 'credentials'
  if (status === 429) return 'limited'
  return status === 408 ? 'busy' : 'permanent'
}
