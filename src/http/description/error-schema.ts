import { Type } from 'typebox'
import { PROBLEMS, type ProblemCode } from '../../model/problem.js'
import { named } from './name-schemas.js'

/** Fields that an error may have besides `success`, `error` and `message`. */
const extras = {
  details: Type.Optional(Type.String({ description: 'What WhatsApp or the storefront answered' })),
  upstream_code: Type.Optional(Type.Union([Type.Integer(), Type.String()], { description: "The upstream's code" })),
  upstream_subcode: Type.Optional(Type.Integer({ description: "The upstream's subcode" })),
  link: Type.Optional(Type.String({ description: 'The section of the documentation that has the cure' })),
  retryable: Type.Optional(Type.Boolean({ description: 'Whether the same request may succeed later' })),
  retry_after: Type.Optional(Type.Number({ description: 'Seconds to wait, as in the header Retry-After' })),
  id: Type.Optional(Type.String({ description: 'The id of the message or contact that the error is about' })),
  chat_id: Type.Optional(Type.String({ description: 'The number that no contact has, normalized' })),
  reason: Type.Optional(
    Type.String({ description: 'Why the contact cannot be written to, or what WhatsApp restricted' }),
  ),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'When the restriction ends' })),
  example: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'A body that would be valid' })),
  request_id: Type.Optional(Type.String({ description: 'The id of the request in the log' })),
}

/**
 * The error body of Interface A and of the admin API, with the names of the problems that it has.
 */
export function errorSchema(has: (code: ProblemCode) => boolean, fields: Parameters<typeof Type.Object>[0] = {}) {
  const codes = Object.keys(PROBLEMS) as ProblemCode[]
  const names = codes.filter(has).map((code) => PROBLEMS[code])
  return named(
    'Error',
    Type.Object({
      success: Type.Literal(false),
      error: Type.Enum([...new Set(names)], { description: 'What kind of error it is: its texts do not change' }),
      message: Type.String({ description: 'What was wrong, with the value, and what to do' }),
      ...extras,
      ...fields,
    }),
  )
}
