import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { readAddresses } from '../../core/contacts.js'
import type { Attempt } from '../../core/idempotency.js'
import { organizationLine } from '../../core/messages/line.js'
import { sendMessage } from '../../core/messages/send.js'
import { findSendResult, type SendResult } from '../../core/messages/settle.js'
import { tenantOf } from '../../http/auth.js'
import { answerOnce } from '../../http/idempotency.js'
import { bodyOf, statusOf } from '../../http/problems.js'
import { explainUnsent } from '../../http/unsent.js'
import type { Tenant } from '../../model/organization.js'
import { Problem } from '../../model/problem.js'
import { responses, tenantId } from './schemas.js'
import { readAbout, readContent, SendChatBody } from './send-chat-body.js'
import type { ApiServer } from './server.js'

const Answer = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  data: Type.Object({
    message_id: Type.String({ description: "The upstream's id" }),
    recipient: Type.String({ description: 'Digits only' }),
    message_type: Type.String(),
    organization: Type.String({ description: "The organization's name" }),
    meta_response: Type.Object({}, { additionalProperties: true, description: "The upstream's answer as it came" }),
  }),
})

/** `POST /send-chat` (spec 4.3). */
export function sendChatRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/send-chat',
    {
      config: { scope: 'messages:send' },
      schema: {
        summary: 'Send a message to an existing contact',
        querystring: Type.Object({ tenantId }),
        body: SendChatBody,
        response: responses({ 200: Answer }, 400, 404, 409, 422, 500),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      const { phone_number, memberId } = request.body
      const content = readContent(request.body)
      const about = readAbout(request.body)
      return answerOnce(ctx, request, reply, {
        perform: async (id) => {
          const sender = { memberId: memberId ?? null, isPromotional: false, recipient: null }
          const to = readAddresses(tenant, 'phone_number', phone_number, 'body')
          const line = organizationLine(ctx, tenant)
          const sent = await sendMessage(ctx, tenant, line, { id, to, content, about, ...sender })
          return toAttempt(tenant, content.type, sent)
        },
        recover: async (id) => {
          const result = await findSendResult(ctx, tenant, id)
          return result && toAttempt(tenant, content.type, result)
        },
      })
    },
  )
}

/** The answer to what became of a send (contract 4). Kept for an Idempotency-Key is only what will not change by trying again. */
function toAttempt(tenant: Tenant, type: string, sent: SendResult): Attempt {
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
  const extras = { details: sent.text, upstream_code: sent.code, id: sent.messageId }
  if (sent.because === 'message') {
    return new Problem('upstream_rejected', `The upstream refused the message: ${sent.text}`, extras)
  }
  return new Problem(
    'upstream_credentials',
    "The upstream refused the organization's access token: set a valid one",
    extras,
  )
}
