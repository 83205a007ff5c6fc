import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readTrace } from '../../../core/messages/trace/read-trace.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { Nullable } from '../../../model/fields.js'
import { TRACE_KINDS } from '../../../model/messages/trace.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const Time = Type.String({ format: 'date-time' })
const Id = Type.String({ format: 'uuid' })

const EntrySchema = named(
  'TraceEntry',
  Type.Object(
    {
      at: Time,
      kind: Type.Enum([...TRACE_KINDS]),
      duration_ms: Type.Optional(
        Type.Integer({ description: 'How long it took; of a callback, how long it waited to be processed' }),
      ),
      by: Type.Optional(
        Type.Object(
          {
            type: Type.Enum(['api_key', 'member', 'instance', 'broadcast']),
            id: Id,
            name: Nullable(Type.String({ description: 'Null if it was deleted' })),
          },
          { description: 'Who asked for the message' },
        ),
      ),
      request_id: Type.Optional(Type.String({ description: 'The X-Request-Id of the request' })),
      idempotency_key: Type.Optional(Type.String()),
      reason: Type.Optional(
        Type.Enum(['file', 'send_slot', 'recipient_limit', 'retry'], {
          description: 'What a send waited for: its file, the pace of the number, the limit per recipient, a retry',
        }),
      ),
      outcome: Type.Optional(
        Type.String({
          description:
            'Of a call: accepted, refused, not_accepted, unknown. Of the fetch of a file: stored, retried, missing.',
        }),
      ),
      http_status: Type.Optional(Type.Integer()),
      error_code: Type.Optional(Type.Union([Type.Number(), Type.String()])),
      text: Type.Optional(
        Type.String({ description: 'The reason of a failure, or its name in the answer to the request' }),
      ),
      upstream_request_id: Type.Optional(
        Type.String({ description: "WhatsApp's own id of the call, for its support" }),
      ),
      retry_at: Type.Optional(Time),
      callback_id: Type.Optional(Id),
      status: Type.Optional(Type.String({ description: 'Of the message, as reported; of a delivery, as it is now' })),
      upstream_time: Type.Optional(Type.String({ format: 'date-time', description: 'When it happened, by WhatsApp' })),
      is_new: Type.Optional(Type.Boolean({ description: 'False if the callback reported nothing new' })),
      event_id: Type.Optional(Id),
      event_type: Type.Optional(Type.String()),
      delivery_id: Type.Optional(Id),
      webhook_id: Type.Optional(Id),
      webhook_host: Type.Optional(Type.String({ description: "The host of the webhook's URL" })),
      attempt: Type.Optional(Type.Integer({ minimum: 1 })),
      message_id: Type.Optional(
        Type.String({ format: 'uuid', description: 'The message that changed or answered it' }),
      ),
      change: Type.Optional(Type.String({ description: 'reaction, edit or revoke' })),
    },
    { description: 'Which fields it has depends on its kind; docs/api.md has the list.' },
  ),
)

const TraceSchema = named(
  'MessageTrace',
  Type.Object({
    message_id: Id,
    contact_id: Id,
    direction: Type.Enum(['inbound', 'outbound']),
    status: Type.Enum(['sent', 'delivered', 'read', 'failed']),
    outcome: Nullable(Type.Enum(['pending', 'unknown'])),
    trace_id: Nullable(Type.String({ description: 'The trace id of the traceparent that the request had' })),
    is_cut: Type.Boolean({ description: 'True if entries were left out' }),
    entries: Type.Array(EntrySchema, { description: 'In the order of time' }),
  }),
)

/** `GET /messages/{id}/trace`. */
export function traceRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/messages/:id/trace',
    {
      config: { scope: 'conversations:read' },
      schema: {
        operationId: 'messages.trace',
        summary: 'Read what happened to a message: requests, waits, calls, callbacks, webhooks, on one line of time',
        params: Type.Object({
          id: Type.String({ maxLength: 512, description: "The message's `id`, or WhatsApp's id (`message_id`)" }),
        }),
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: successAnswer('TraceAnswer', { trace: TraceSchema }) }, 400, 404),
      },
    },
    async (request) => ({ success: true, trace: await readTrace(ctx, tenantOf(request).id, request.params.id) }),
  )
}
