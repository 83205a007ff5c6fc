import { Type } from 'typebox'
import { Nullable } from '../../../model/input.js'
import { DELIVERY_STATUSES } from '../../../model/webhooks/webhook.js'

const Uuid = Type.String({ format: 'uuid' })
const DateTime = Type.String({ format: 'date-time' })

/** Contract 4, Webhooks; `disabled_reason` after it. */
export const WebhookSchema = Type.Object({
  id: Uuid,
  url: Type.String(),
  events: Type.Array(Type.String()),
  description: Nullable(Type.String()),
  active: Type.Boolean({ description: 'false: it was disabled by itself, and gets nothing until it is enabled' }),
  created_at: DateTime,
  updated_at: DateTime,
  disabled_reason: Nullable(Type.String({ description: 'Why it was disabled by itself' })),
})

/** What is answered when there is a new secret. */
export const IssuedAnswer = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  webhook: Type.Object({
    ...WebhookSchema.properties,
    secret: Type.String({ description: 'whsec_…, by which the receiver checks signatures; shown this once' }),
  }),
})

/** Contract 4, Webhooks; `response_body` of an attempt after it. */
export const DeliverySchema = Type.Object({
  id: Uuid,
  webhook_id: Uuid,
  event_id: Type.String({ format: 'uuid', description: 'The header webhook-id of every attempt' }),
  event_type: Type.String(),
  status: Type.Enum([...DELIVERY_STATUSES]),
  attempts: Type.Array(
    Type.Object({
      at: DateTime,
      response_status: Nullable(Type.Integer({ description: 'null where no answer came' })),
      error: Nullable(Type.String()),
      duration_ms: Type.Integer(),
      response_body: Nullable(Type.String({ description: 'The beginning of what a failed attempt was answered' })),
    }),
  ),
  next_attempt_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'null: it has ended, or waits for an earlier event of its contact',
    }),
  ),
  created_at: DateTime,
})

/** What is answered when a delivery has been made. */
export const DeliveryAnswer = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  delivery: DeliverySchema,
})

/** An event as it is posted (contract 4, Webhooks). */
export const EventFields = {
  type: Type.String(),
  timestamp: Type.String({ format: 'date-time', description: 'When it happened' }),
  data: Type.Object(
    {},
    { additionalProperties: true, description: 'The objects that it is about, as the API shows them' },
  ),
}
