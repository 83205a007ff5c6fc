import { Type } from 'typebox'
import { createResponses } from '../../http/responses.js'

/** The path's parameter. */
export const instancePath = Type.Object({ instance: Type.String({ description: "The instance's name" }) })

const ErrorSchema = Type.Object(
  {
    status: Type.Integer(),
    error: Type.String({ description: 'The phrase of the status' }),
    response: Type.Object(
      {
        message: Type.Union([Type.String(), Type.Array(Type.Unknown())], {
          description: 'Texts in an array; of a malformed body in an array in an array; of a 401 a text',
        }),
      },
      { additionalProperties: true },
    ),
  },
  { additionalProperties: false },
)

const STATUS_TEXTS = {
  400: 'Something is wrong with the request; the message says what',
  401: 'The key is missing, unknown, revoked or expired',
  403: 'The key does not reach so far, or the name or the token is in use',
  404: 'There is no such instance in the organization',
  409: 'The first request with the Idempotency-Key is under way',
  422: 'The Idempotency-Key was used for another body',
  429: 'Too many requests: wait for Retry-After seconds',
  500: 'Connection Closed: the instance is not open; or the upstream or the service failed',
  501: 'This kind of instance cannot do it',
  503: 'The database, or the simulator, cannot be reached: wait for Retry-After seconds',
} as const

/** The answers of an endpoint, for its schema; see http/responses. */
export const responses = createResponses(ErrorSchema, STATUS_TEXTS)
