import { Type } from 'typebox'
import { createResponses } from '../../http/answers/responses.js'
import { named } from '../../http/description/name-schemas.js'
import { GATEWAY_STATUSES } from '../../model/instances/gateway-message.js'
import { ContentSchema } from '../../model/messages/shown/schemas.js'

/** The path's parameter. */
export const instancePath = Type.Object({ instance: Type.String({ description: "The instance's name" }) })

const ErrorSchema = named(
  'Error',
  Type.Object(
    {
      status: Type.Integer(),
      error: Type.String({ description: 'The name of the status' }),
      response: Type.Object(
        {
          message: Type.Union([Type.String(), Type.Array(Type.Unknown())], {
            description: 'An array of texts; for a malformed body an array in an array; for 401 a text',
          }),
        },
        { additionalProperties: true },
      ),
    },
    { additionalProperties: false },
  ),
)

const STATUS_TEXTS = {
  400: 'The request is not valid; the message says why',
  401: 'The key is missing, unknown, revoked or expired',
  403: 'The key does not allow this, or the name or the token is in use',
  404: 'The organization has no such instance',
  409: 'The first request with the Idempotency-Key is still in progress, or a legal hold is on the organization',
  422: 'The Idempotency-Key was used for another body',
  429: 'Too many requests: try again after Retry-After seconds',
  500: 'Connection Closed: the instance is not connected. Or WhatsApp or the service failed.',
  501: 'This kind of instance does not support it',
  503: 'The service is not available: try again after Retry-After seconds',
} as const

/** The responses of an endpoint, for its schema; see http/answers/responses. */
export const responses = createResponses(ErrorSchema, STATUS_TEXTS)

/** A message as clients of the gateway know it. */
export const GatewayMessageSchema = named(
  'GatewayMessage',
  Type.Object({
    key: Type.Object({
      remoteJid: Type.String({ description: 'The chat' }),
      fromMe: Type.Boolean(),
      id: Type.String(),
      participant: Type.Optional(Type.String({ description: 'The member of a group who wrote it' })),
      participantAlt: Type.Optional(Type.String({ description: "The member's number, if participant hides it" })),
    }),
    pushName: Type.String(),
    status: Type.Enum([...GATEWAY_STATUSES]),
    message: Type.Object({}, { additionalProperties: true }),
    contextInfo: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
    messageType: Type.String(),
    content: ContentSchema,
    messageTimestamp: Type.Integer({ description: 'Unix seconds' }),
    instanceId: Type.String({ format: 'uuid' }),
    source: Type.Enum(['web', 'unknown']),
  }),
)
