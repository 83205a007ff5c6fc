import type { SendResult } from '../../core/messages/send/outcome.js'
import type { RepeatableAnswer } from '../../core/requests/idempotency.js'
import { explainCode, withRemedy } from '../../model/messages/upstream-codes.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { bodyOf, statusOf } from './problems.js'
import { explainUnsent } from './unsent.js'

/** The answer to a send. An Idempotency-Key keeps only results that a retry cannot change. */
export function toAnswer(tenant: Tenant, type: string, sent: SendResult): RepeatableAnswer {
  if (sent.result === 'accepted') {
    const body = {
      success: true,
      message: 'Message sent successfully',
      data: {
        message_id: sent.upstreamId,
        recipient: sent.recipient,
        message_type: type,
        organization: tenant.name,
        meta_response: sent.answer,
      },
    }
    return { status: 200, body, final: true }
  }
  const problem = toProblem(sent)
  const final = problem.code === 'upstream_rejected' || problem.code === 'outcome_unknown'
  return { status: statusOf(problem), body: bodyOf(problem), final }
}

function toProblem(sent: Exclude<SendResult, { result: 'accepted' }>): Problem {
  if (sent.result !== 'refused') return explainUnsent(sent, 'upstream')
  const link = explainCode(sent.code, sent.text)?.link
  const extras = {
    details: sent.text,
    upstream_code: sent.code,
    id: sent.messageId,
    ...(link === undefined ? {} : { link }),
  }
  if (sent.because === 'message') {
    const text = `The upstream refused the message: ${sent.text}`
    return new Problem('upstream_rejected', withRemedy(text, sent.code), extras)
  }
  const text = "The upstream refused the organization's access token: set a valid one"
  return new Problem('upstream_credentials', withRemedy(text, sent.code), extras)
}
