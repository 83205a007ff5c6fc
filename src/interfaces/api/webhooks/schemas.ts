import { Type } from 'typebox'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { Nullable } from '../../../model/fields.js'
import { DELIVERY_STATUSES } from '../../../model/webhooks/webhook.js'

const Uuid = Type.String({ format: 'uuid' })
const DateTime = Type.String({ format: 'date-time' })

export const WebhookSchema = named(
  'Webhook',
  Type.Object({
    id: Uuid,
    url: Type.String(),
    events: Type.Array(Type.String()),
    description: Nullable(Type.String()),
    active: Type.Boolean({
      description: 'False if it was disabled automatically: it gets no events until it is enabled',
    }),
    created_at: DateTime,
    updated_at: DateTime,
    disabled_reason: Nullable(Type.String({ description: 'Why it was disabled automatically' })),
  }),
)

/** What is answered when there is a new secret. */
export const IssuedAnswer = successAnswer('IssuedWebhookAnswer', {
  message: Type.String(),
  webhook: Type.Object({
    ...WebhookSchema.properties,
    secret: Type.String({ description: 'whsec_…: the receiver checks signatures with it. It is shown only once.' }),
  }),
})

export const DeliverySchema = named(
  'Delivery',
  Type.Object({
    id: Uuid,
    webhook_id: Uuid,
    event_id: Type.String({ format: 'uuid', description: 'The header webhook-id of every attempt' }),
    event_type: Type.String(),
    status: Type.Enum([...DELIVERY_STATUSES]),
    attempts: Type.Array(
      Type.Object({
        at: DateTime,
        response_status: Nullable(Type.Integer({ description: 'Null if no answer came' })),
        error: Nullable(Type.String()),
        duration_ms: Type.Integer(),
        response_body: Nullable(Type.String({ description: 'The beginning of the answer to a failed attempt' })),
      }),
    ),
    next_attempt_at: Nullable(
      Type.String({
        format: 'date-time',
        description: 'Null if the delivery has ended, or waits for an earlier event of its contact',
      }),
    ),
    created_at: DateTime,
  }),
)

/** What is answered when a delivery has been made. */
export const DeliveryAnswer = successAnswer('DeliveryAnswer', { message: Type.String(), delivery: DeliverySchema })
