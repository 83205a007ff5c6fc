import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import type { GivenNumber } from '../../../core/contacts/numbers.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { findScheduledMessage, scheduleTemplate } from '../../../core/scheduled/schedule.js'
import { findTemplateSend, sendTemplate, type TemplateSend } from '../../../core/templates/send.js'
import { senderOf, tenantOf } from '../../../http/access/auth.js'
import { toScheduledAnswer } from '../../../http/answers/scheduled.js'
import { causeOf } from '../../../http/cause.js'
import { named } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { readSendTime } from '../../../http/moment.js'
import { userIdField } from '../../../model/contacts/contact-input.js'
import { MAX_NUMBER_INPUT } from '../../../model/contacts/written-number.js'
import { Maybe, Nullable } from '../../../model/fields.js'
import { withRemedy } from '../../../model/messages/upstream-codes.js'
import { PROBLEMS, Problem } from '../../../model/problem.js'
import { parameterValues } from '../../../model/templates/input.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { from } from './from-field.js'
import { ScheduledAnswer, scheduledAt } from './scheduled-fields.js'
import { headerMedia, headerMediaId, language, readTemplateFields } from './template-fields.js'
import { partFields, readParts } from './template-parts.js'

const EXAMPLE = { templateName: 'order_update', chatNumber: '5511999990000', bodyParameters: { name: 'Ana' } }

const Body = named(
  'SendTemplate',
  Type.Object({
    templateName: Type.String({
      minLength: 1,
      maxLength: 512,
      'x-missing': 'templateName is required: the name of an approved template',
      'x-problem': 'template_name_required',
    }),
    chatNumber: Maybe(
      Type.String({
        minLength: 1,
        maxLength: MAX_NUMBER_INPUT,
        description: 'The recipient, in any form of the number. Required without `to_user_id`.',
      }),
    ),
    to_user_id: userIdField(
      "WhatsApp's user id, or parent user id, of the recipient, who must be a contact. `chatNumber` goes before it. Not for authentication templates, which need a number.",
    ),
    bodyParameters: parameterValues(
      'Values of the variables in the body, by name or by position; name also names a new contact',
    ),
    headerParameters: parameterValues('Values of the variables in the header'),
    buttonParameters: parameterValues('Values of the variables of URL buttons, by name or by position (param1)'),
    headerMedia,
    headerMediaId,
    ...partFields,
    language,
    scheduled_at: scheduledAt,
    from,
    memberId: Type.Optional(Nullable(Type.String({ format: 'uuid', description: 'The member of the team who sends' }))),
  }),
)

const Answer = named(
  'SentTemplateAnswer',
  Type.Object({
    success: Type.Boolean(),
    summary: Type.Object({ total: Type.Integer(), successful: Type.Integer(), failed: Type.Integer() }),
    results: Type.Array(
      Type.Object({
        contactId: Type.String(),
        contactName: Type.String(),
        success: Type.Boolean(),
        messageId: Nullable(Type.String({ description: "The upstream's id" })),
        error: Nullable(Type.String()),
      }),
    ),
    error: Type.Optional(Type.String({ description: 'Why the send failed' })),
    broadcastId: Type.String({ format: 'uuid' }),
  }),
)

/** `POST /send-template`. */
export function sendTemplateRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/send-template',
    {
      config: { scope: 'templates:send' },
      schema: {
        operationId: 'messages.sendTemplate',
        summary: 'Send an approved template to one person',
        querystring: Type.Object({ tenantId }),
        body: Body,
        response: responses({ 200: Answer, 202: ScheduledAnswer }, 400, 409, 422, 500),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      const given = request.body
      const to = readTarget(given)
      const memberId = senderOf(request, given.memberId)
      const cause = causeOf(request, ctx.clock())
      const isLater = Boolean(given.scheduled_at)
      return answerOnce(ctx, request, reply, {
        perform: async (id) => {
          const at = readSendTime(given.scheduled_at, ctx.clock())
          const { headerMedia: file, ...fields } = readTemplateFields(given)
          const command = {
            id,
            ...fields,
            headerMedia: file && { file, filename: null },
            parts: readParts(given, { now: ctx.clock(), sendAt: at }),
            recipient: { to },
            from: given.from ?? null,
            memberId,
            cause,
          }
          if (at !== null)
            return toScheduledAnswer(await scheduleTemplate(ctx, tenant, { ...command, scheduledAt: at }))
          return toAnswer(await sendTemplate(ctx, tenant, command))
        },
        recover: async (id) => {
          if (isLater) {
            const scheduled = await findScheduledMessage(ctx, tenant, id)
            return scheduled && toScheduledAnswer(scheduled)
          }
          const send = await findTemplateSend(ctx, tenant, id)
          return send && toAnswer(send)
        },
      })
    },
  )
}

/** Whom a body names as the recipient. Throws chat_number_required. */
function readTarget({ chatNumber, to_user_id }: Static<typeof Body>): GivenNumber {
  if (chatNumber) return { name: 'chatNumber', value: chatNumber }
  if (to_user_id) return { name: 'to_user_id', value: to_user_id }
  const message = 'chatNumber is required: the number of the recipient, with country code; or give to_user_id instead'
  throw new Problem('chat_number_required', message, { example: EXAMPLE })
}

/** An error of the upstream is a 200 whose body says `success: false`. */
function toAnswer({ broadcastId, contact, sent }: TemplateSend): RepeatableAnswer {
  const error = sent.result === 'accepted' ? null : explain(sent)
  const success = error === null
  const body = {
    success,
    summary: { total: 1, successful: success ? 1 : 0, failed: success ? 0 : 1 },
    results: [
      {
        contactId: contact.id,
        contactName: contact.full_name ?? '',
        success,
        messageId: sent.result === 'accepted' ? sent.upstreamId : null,
        error,
      },
    ],
    ...(error === null ? {} : { error }),
    broadcastId,
  }
  const failed = error === null || sent.result === 'not_sent' ? undefined : { messageId: sent.messageId, text: error }
  return { status: 200, body, final: isFinal(sent), failed }
}

/** As for send-chat, an Idempotency-Key keeps only results that a retry cannot change. */
function isFinal(sent: TemplateSend['sent']): boolean {
  switch (sent.result) {
    case 'accepted':
    case 'unknown':
      return true
    case 'refused':
      return sent.because === 'message'
    case 'not_sent':
      return sent.isOptOut
    case 'unavailable':
    case 'limited':
      return false
  }
}

function explain(sent: Exclude<TemplateSend['sent'], { result: 'accepted' }>): string {
  switch (sent.result) {
    case 'not_sent':
      return sent.isOptOut ? PROBLEMS.contact_opted_out : sent.text
    case 'refused':
      return withRemedy(
        sent.because === 'credentials' ? `${PROBLEMS.upstream_credentials}: ${sent.text}` : sent.text,
        sent.code,
      )
    case 'unavailable':
      return `${PROBLEMS.upstream_unavailable}: ${sent.text}`
    case 'limited':
      return `${PROBLEMS.too_many_requests}: ${sent.text}`
    case 'unknown':
      return PROBLEMS.outcome_unknown
  }
}
