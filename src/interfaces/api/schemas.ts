import { Type } from 'typebox'
import { createResponses } from '../../http/answers/responses.js'
import { errorSchema } from '../../http/description/error-schema.js'
import { named, successAnswer } from '../../http/description/name-schemas.js'
import { MAX_NUMBER_INPUT } from '../../model/contacts/written-number.js'
import { Nullable } from '../../model/fields.js'
import { ContentSchema, GroupPersonSchema, Referral } from '../../model/messages/shown/schemas.js'
import type { ProblemCode } from '../../model/problem.js'

const DateTime = Type.String({ format: 'date-time' })

/** How many. */
export const Count = Type.Integer({ minimum: 0 })

const ContactReferral = Nullable(
  Type.Object(
    {
      at: DateTime,
      message_id: Type.String({ format: 'uuid', description: 'The message that the person wrote there' }),
      ...Referral.properties,
    },
    { description: 'An ad or post that the person came from, as WhatsApp names it' },
  ),
)

/** Of a group of a number of the business API. */
const ContactGroup = Type.Object(
  {
    description: Nullable(Type.String()),
    suspended: Type.Boolean({ description: 'WhatsApp has suspended the group: nothing can be sent to it' }),
    deleted_at: Nullable(DateTime),
    participants: Type.Array(GroupPersonSchema, {
      maxItems: 100,
      description: 'Who joined, as far as WhatsApp has reported; the organization is not among them',
    }),
  },
  { description: 'What WhatsApp has reported about a group of a business number; absent for people and other groups' },
)

export const ContactSchema = named(
  'Contact',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    full_name: Nullable(Type.String()),
    chat_id: Type.String({ description: 'Normalized phone number: digits only, country code included' }),
    phone_number: Nullable(Type.String({ description: 'With country code and leading +' })),
    user_id: Nullable(
      Type.String({
        description: "WhatsApp's id of the person for your business, such as US.13491208655302741918; null if unknown",
      }),
    ),
    parent_user_id: Nullable(
      Type.String({
        description: 'The id that is valid in all linked portfolios of a business; null if there is none',
      }),
    ),
    username: Nullable(
      Type.String({ description: 'The name that the person has chosen at WhatsApp, without @. It may change.' }),
    ),
    email: Nullable(Type.String()),
    tags: Type.Array(Type.String()),
    organization_id: Type.String({ format: 'uuid' }),
    bot_status: Nullable(Type.Enum(['active', 'paused'])),
    allow_broadcast: Type.Boolean(),
    archived: Type.Boolean(),
    blocked: Type.Boolean(),
    active_status: Type.Boolean({ description: 'True if the contact wrote or called within the last 24 hours' }),
    has_unread_messages: Type.Boolean(),
    source: Nullable(Type.Object({ type: Type.String() }, { additionalProperties: true })),
    referral: Type.Object(
      { first: ContactReferral, last: ContactReferral },
      { description: 'The first and the last ad or post that the person came from' },
    ),
    contact_summary: Nullable(Type.String()),
    contact_summary_updated_at: Nullable(DateTime),
    is_group: Type.Optional(Type.Literal(true, { description: 'True for a group; absent for a person' })),
    group: Type.Optional(ContactGroup),
    created_at: DateTime,
    updated_at: DateTime,
  }),
)

export const MessageSchema = named(
  'Message',
  Type.Object({
    message: Type.String(),
    sender_type: Type.Enum(['user-chat', 'bot-chat', 'human-chat', 'system']),
    created_at: DateTime,
    message_status: Type.Enum(['sent', 'delivered', 'read', 'failed']),
    media_type: Nullable(Type.Enum(['image', 'video', 'audio', 'document', 'interactive'])),
    media_url: Nullable(Type.String()),
    assignee: Nullable(Type.Object({ id: Type.String(), full_name: Type.String(), email: Type.String() })),
    voice_note_transcription: Nullable(Type.String()),
    reactions: Type.Array(Type.Object({ emoji: Type.String(), sender_type: Type.String(), created_at: DateTime })),
    id: Type.String({ format: 'uuid' }),
    message_id: Nullable(Type.String({ description: "The upstream's id" })),
    message_type: Type.String(),
    content: ContentSchema,
    context_message_id: Nullable(Type.String({ description: 'The message that this one replies to' })),
    error: Nullable(
      Type.Object(
        { code: Type.Union([Type.Number(), Type.String()]), text: Type.String() },
        { description: 'Why the send failed' },
      ),
    ),
    outcome: Nullable(
      Type.Enum(['pending', 'unknown', 'held'], {
        description:
          '`pending`: the upstream has not answered yet; `unknown`: its answer was lost; `held`: it accepted the message, and holds it back until it knows how the first recipients of the template react',
      }),
    ),
    business_number: Nullable(
      Type.Object(
        {
          phone_number_id: Type.String(),
          phone_number: Nullable(Type.String({ description: 'Null: WhatsApp has not been asked yet' })),
        },
        { description: "The organization's number that it went through. Null: it was a linked device, or is removed" },
      ),
    ),
    author: Type.Optional(
      Type.Object(
        { name: Nullable(Type.String()), phone_number: Nullable(Type.String()), user_id: Nullable(Type.String()) },
        { description: 'The group member who wrote the message; absent in private chats' },
      ),
    ),
    handled_by: Type.Optional(
      Type.Enum(['upstream_agent'], {
        description: "WhatsApp's own agent held the conversation: no bot should answer. Absent otherwise",
      }),
    ),
  }),
)

/** A template as the upstream has it. */
export const TemplateSchema = named(
  'Template',
  Type.Object({
    name: Type.String(),
    language: Type.String(),
    status: Type.String({ description: 'Only APPROVED templates can be sent' }),
    category: Type.String(),
    parameter_format: Type.Enum(['NAMED', 'POSITIONAL']),
    components: Type.Array(Type.Object({}, { additionalProperties: true, description: 'As the upstream returns it' })),
    id: Nullable(Type.String({ description: "The upstream's id" })),
    quality: Nullable(Type.String({ description: 'GREEN, YELLOW, RED or UNKNOWN' })),
    rejected_reason: Nullable(
      Type.String({ description: 'Why it was REJECTED, in a word of the upstream such as INVALID_FORMAT' }),
    ),
    paused_until: Nullable(
      Type.String({
        format: 'date-time',
        description: 'When it can be sent again. Null if it is not PAUSED, or WhatsApp did not say for how long.',
      }),
    ),
  }),
)

/** The answer of an endpoint that returns one contact. */
export const ContactAnswer = successAnswer('ContactAnswer', { contact: ContactSchema })

/** The answer of an endpoint that returns nothing else. */
export const DoneAnswer = successAnswer('DoneAnswer', { message: Type.String() })

/** Notes on the request, in its answer. */
const Warnings = Type.Optional(
  Type.Array(Type.String(), {
    description: 'One sentence for each unknown parameter or field. Absent if there are none.',
  }),
)

/** The problems that only other interfaces have. */
const ELSEWHERE: readonly ProblemCode[] = [
  'session_required',
  'sign_in_failed',
  'invalid_signature',
  'invalid_verify_token',
  'invalid_link',
  'instance_taken',
  'not_on_network',
  'api_key_not_found',
  'api_key_ended',
  'member_not_found',
  'last_owner',
  'merge_not_last',
  'merge_too_large',
]

const ErrorSchema = errorSchema((code) => !ELSEWHERE.includes(code), { warnings: Warnings })

const STATUS_TEXTS = {
  400: 'The request is not valid; `message` says why',
  401: 'The API key is missing, unknown, revoked or expired, or belongs to another organization than tenantId names',
  403: 'The API key lacks the scope',
  404: 'The organization has no such object',
  409: 'The object exists already, its state or a legal hold does not allow this, or the first request with the Idempotency-Key is still in progress',
  422: 'The Idempotency-Key was used for another body',
  429: 'Too many requests: try again after Retry-After seconds',
  500: 'WhatsApp or the service failed; `retryable` says whether to try again',
  501: 'The instance cannot do this',
  503: 'The service is not available: try again after Retry-After seconds',
} as const

const describe = createResponses(ErrorSchema, STATUS_TEXTS)

/** The answers of an endpoint, for its schema; see http/answers/responses. */
export const responses: typeof describe = (success, ...errors) =>
  describe(
    Object.fromEntries(Object.entries(success).map(([status, schema]) => [status, withWarnings(schema)])),
    ...errors,
  )

/** A schema whose objects may also have `warnings`; files have none. */
function withWarnings(schema: AnswerSchema): object {
  if (schema.properties) return { ...schema, properties: { ...schema.properties, warnings: Warnings } }
  return schema.anyOf ? { ...schema, anyOf: schema.anyOf.map(withWarnings) } : schema
}

interface AnswerSchema {
  properties?: object
  anyOf?: AnswerSchema[]
}

/** The organization's slug, which every endpoint of this interface takes. */
export const tenantId = Type.Optional(
  Type.String({ description: "The organization's slug. If it is given, the key must belong to this organization." }),
)

/** The query parameters that name a contact. */
export const contactQuery = {
  phone_number: Type.Optional(
    Type.String({ description: 'Phone number with country code, in any form', maxLength: MAX_NUMBER_INPUT }),
  ),
  chat_id: Type.Optional(Type.String({ description: 'Normalized digits-only number', maxLength: MAX_NUMBER_INPUT })),
  user_id: Type.Optional(
    Type.String({ description: "WhatsApp's user id, or parent user id, of the person", maxLength: MAX_NUMBER_INPUT }),
  ),
  tenantId,
}

/** The path's parameter. */
export const onePath = Type.Object({ id: Type.String({ format: 'uuid' }) })
