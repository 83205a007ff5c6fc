import { Type } from 'typebox'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { AudienceBody } from '../../../model/broadcasts/audience.js'
import { BROADCAST_STATUSES, RECIPIENT_STATUSES, WAITING_REASONS } from '../../../model/broadcasts/broadcast.js'
import { Nullable } from '../../../model/fields.js'
import { parameterValues } from '../../../model/templates/input.js'
import { from } from '../messages/from-field.js'
import { headerMedia, headerMediaId, language } from '../messages/template-fields.js'
import { Count } from '../schemas.js'

const DateTime = Type.String({ format: 'date-time' })

export const BroadcastSchema = named(
  'Broadcast',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    templateName: Type.String(),
    language: Type.String(),
    status: Type.Enum([...BROADCAST_STATUSES]),
    totalRecipients: Type.Integer({ description: 'Without the skipped ones' }),
    skippedRecipients: Count,
    scheduled_at: Nullable(DateTime),
    started_at: Nullable(DateTime),
    completed_at: Nullable(DateTime),
    created_at: DateTime,
    from: Nullable(
      Type.String({
        description:
          'The id of the number that sends it. Null: for each recipient, the number that it last wrote to, else the first.',
      }),
    ),
    reason: Nullable(
      Type.Union([Type.Enum([...WAITING_REASONS]), Type.String()], {
        description:
          'Why it was paused automatically. restored: the database was restored while it was running or due; late: it would ' +
          'have started more than six hours after its time; else a sentence. It waits until somebody resumes it.',
      }),
    ),
  }),
)

export const RecipientSchema = named(
  'Recipient',
  Type.Object({
    contactId: Nullable(Type.String({ format: 'uuid' })),
    chatNumber: Nullable(Type.String()),
    contactName: Nullable(Type.String()),
    status: Type.Enum([...RECIPIENT_STATUSES]),
    reason: Nullable(Type.String({ description: 'Why the recipient is skipped, or why it is pending' })),
    messageId: Nullable(Type.String({ description: "The upstream's id" })),
    errorCode: Nullable(Type.Union([Type.Number(), Type.String()])),
    errorMessage: Nullable(Type.String()),
    sent_at: Nullable(DateTime),
    delivered_at: Nullable(DateTime),
    read_at: Nullable(DateTime),
  }),
)

/** What every call of one broadcast answers. */
export const BroadcastAnswer = successAnswer('BroadcastAnswer', { broadcast: BroadcastSchema })

/** What a broadcast is made from. */
export const CreateBody = named(
  'CreateBroadcast',
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 500 }),
    templateName: Type.String({ minLength: 1, maxLength: 512 }),
    language,
    bodyParameters: parameterValues('Values of the variables in the body, by name or by position, for all recipients'),
    headerParameters: parameterValues('Values of the variables in the header'),
    buttonParameters: parameterValues('Values of the variables of URL buttons, by name or by position (param1)'),
    headerMedia,
    headerMediaId,
    audience: AudienceBody,
    from,
    scheduled_at: Type.Optional(
      Nullable(
        Type.String({
          format: 'date-time',
          description: 'When it starts, with a time zone. Without a value it starts now.',
        }),
      ),
    ),
  }),
)
