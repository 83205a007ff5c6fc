import { Problem } from '../../model/problem.js'
import type { TemplateFailure } from '../../upstream/client.js'

/** The upstream's limits for these calls are per hour. */
const DEFAULT_WAIT_MS = 60_000

/** The problem of a call that was to create, change or read templates. `what` completes "WhatsApp did not …". */
export function toProblem(failure: TemplateFailure, what: string): Problem {
  const { text: details } = failure
  switch (failure.outcome) {
    case 'refused': {
      if (failure.because === 'credentials') {
        const message = `WhatsApp refused the organization's access token: set one that may manage templates (whatsapp_business_management)`
        return new Problem('upstream_credentials', message, { details, upstream_code: failure.code })
      }
      const { code, subcode } = failure
      return new Problem('template_rejected', `WhatsApp did not ${what}: ${details}`, {
        ...{ details, upstream_code: code },
        ...(subcode !== null && { upstream_subcode: subcode }),
      })
    }
    case 'limited': {
      const seconds = Math.max(1, Math.ceil((failure.retryAfterMs ?? DEFAULT_WAIT_MS) / 1_000))
      const message = `WhatsApp's rate limit is reached: try again in ${seconds} s`
      return new Problem('too_many_requests', message, { details, retry_after: seconds })
    }
    case 'failed':
      return new Problem('upstream_unavailable', `WhatsApp did not ${what}: try again later`, {
        details,
        retryable: true,
      })
    case 'unknown':
      return new Problem(
        'outcome_unknown',
        `WhatsApp did not say whether it did ${what}. Parley fetches the templates now: look at GET /templates before you try again`,
        { details, retryable: false },
      )
  }
}
