import { Type } from 'typebox'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { Maybe, Nullable } from '../../../model/fields.js'
import { WAITING_REASONS } from '../../../model/messages/scheduled.js'

const DateTime = Type.String({ format: 'date-time' })

/** The field of a send that is to happen later. */
export const scheduledAt = Maybe(
  Type.String({
    format: 'date-time',
    description:
      'When to send it, with a time zone, at most a year ahead: the answer is 202, and GET /scheduled lists it until then. Without a value it is sent now.',
  }),
)

export const ScheduledSchema = named(
  'Scheduled',
  Type.Object({
    id: Type.String({ format: 'uuid', description: 'The message has the same id when it is sent' }),
    scheduled_at: DateTime,
    status: Type.Enum(['scheduled', 'sending', 'paused', 'sent', 'failed', 'cancelled'], {
      description:
        '`paused`: it waits until somebody gives it a new time. Lists have only `scheduled`, `sending` and `paused`.',
    }),
    reason: Nullable(
      Type.Enum([...WAITING_REASONS], {
        description:
          'Why it is paused. restored: the database was restored when its time had come; late: it was not sent within six hours of its time',
      }),
    ),
    error: Nullable(
      Type.Object(
        { code: Type.Union([Type.Number(), Type.String()]), text: Type.String() },
        { description: 'Why the last attempt did not send it' },
      ),
    ),
    contact_id: Type.String({ format: 'uuid' }),
    chat_id: Type.String({ description: "The recipient's number: digits only, country code included" }),
    message: Type.String({ description: 'Its text; of a template, as it would be filled when it was accepted' }),
    message_type: Type.String(),
    media_type: Nullable(Type.String()),
    templateName: Nullable(Type.String()),
    language: Nullable(Type.String({ description: "The template's language" })),
    instance: Nullable(
      Type.String({
        description: "Null: the organization's own number, or an instance that is deleted, which `error` says",
      }),
    ),
    memberId: Nullable(Type.String({ format: 'uuid' })),
    created_at: DateTime,
  }),
)

/** The answer about one scheduled message. */
export const ScheduledAnswer = successAnswer('ScheduledAnswer', { message: Type.String(), scheduled: ScheduledSchema })
