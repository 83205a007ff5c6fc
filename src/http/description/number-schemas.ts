import { Type } from 'typebox'
import { Nullable } from '../../model/fields.js'
import {
  CONNECTION_REASONS,
  CONNECTION_STEPS,
  type ConnectionReason,
} from '../../model/organizations/connection-steps.js'
import { named } from './name-schemas.js'

/** Schemas of numbers at the upstream, for the interfaces that show them. */

const Time = Nullable(Type.String({ format: 'date-time' }))
const Word = (description: string) => Nullable(Type.String({ description }))

/** One step of connecting a number, or of checking it. */
export const ConnectionStep = named(
  'ConnectionStep',
  Type.Object({
    step: Type.Enum([...CONNECTION_STEPS]),
    state: Type.Enum(['ok', 'warning', 'failed', 'choose'], {
      description: 'choose: give `field` and call again',
    }),
    reason: Type.Enum(Object.keys(CONNECTION_REASONS) as ConnectionReason[], {
      description: 'What was found, for programs; more may be added',
    }),
    // Not a record: @fastify/swagger writes those in answers in another way than in webhooks.
    values: Type.Object({}, { additionalProperties: true, description: 'The values in the texts' }),
    sentence: Type.String({ description: 'What was found' }),
    remedy: Nullable(Type.String({ description: 'What to do' })),
    link: Nullable(Type.String({ description: "The page of Meta's where it is done" })),
    docs: Nullable(
      Type.String({ description: 'The section of the docs that describes it, served at this path; null for ok' }),
    ),
    upstream_code: Type.Optional(Type.Integer({ description: "WhatsApp's error code" })),
    upstream_subcode: Type.Optional(Type.Integer()),
    field: Type.Optional(Type.String({ description: 'The field of the request that decides' })),
    choices: Type.Optional(
      Type.Array(Type.Object({ value: Type.String(), label: Type.String() }), {
        description: 'The values that it can have; absent: it is free',
      }),
    ),
  }),
)

/** What a check of a number has found. */
export const numberStateFields = {
  phone_number_id: Type.String(),
  display_phone_number: Nullable(Type.String()),
  verified_name: Nullable(Type.String()),
  state: Nullable(Type.Enum(['ok', 'warning', 'failed'], { description: 'null: not checked yet' })),
  status: Word('CONNECTED, PENDING, …, as WhatsApp says it'),
  name_status: Word('Of the display name: APPROVED, PENDING_REVIEW, DECLINED, …'),
  quality_rating: Word('GREEN, YELLOW, RED, …'),
  throughput: Word('STANDARD, HIGH, …'),
  messaging_limit: Word('How many people the business may write to first, such as TIER_250'),
  can_send: Word('AVAILABLE, LIMITED or BLOCKED'),
  callback_url: Word('Where WhatsApp reports its messages'),
  token_expires_at: Time,
  last_callback_at: Time,
  checked_at: Time,
  steps: Type.Array(ConnectionStep),
}

/** The state of a number in events. */
export const NumberState = named('NumberState', Type.Object(numberStateFields))

/** A business number of an organization. */
export const OwnNumberSchema = named(
  'BusinessNumber',
  Type.Object({
    phone_number_id: Type.String(),
    phone_number: Word('With its country code. Null: WhatsApp has not been asked yet'),
    name: Word('The display name'),
    is_first: Type.Boolean({ description: 'The one that sends to who has written to none' }),
    instance: Word('The instance of the gateway that it is; null: the first number'),
    business_account_id: Nullable(Type.String()),
    state: numberStateFields.state,
    status: numberStateFields.status,
    quality: numberStateFields.quality_rating,
    messaging_limit: numberStateFields.messaging_limit,
    can_send: numberStateFields.can_send,
    throughput: numberStateFields.throughput,
    messages_per_second: Type.Integer({ description: 'How many are sent at most; 0: as many as possible' }),
  }),
)
