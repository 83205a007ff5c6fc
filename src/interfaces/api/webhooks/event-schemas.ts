import { type TSchema, Type } from 'typebox'
import { nameOfKind, type WebhookParts } from '../../../http/description/describe.js'
import { named } from '../../../http/description/name-schemas.js'
import { MERGE_CAUSES } from '../../../model/contacts/merge.js'
import type { EVENT_KINDS, TEST_KIND } from '../../../model/webhooks/webhook.js'
import { BroadcastSchema } from '../broadcasts/schemas.js'
import { ContactSchema, MessageSchema, TemplateSchema } from '../schemas.js'
import { WebhookSchema } from './schemas.js'

type Kind = (typeof EVENT_KINDS)[number] | typeof TEST_KIND

const aboutMessage = { message: MessageSchema, contact: ContactSchema }
const aboutStatus = { ...aboutMessage, previous_status: Type.Optional(MessageSchema.properties.message_status) }
const aboutContact = { contact: ContactSchema }
const aboutBroadcast = { broadcast: BroadcastSchema }

/** When an event of each kind happens, and the objects in its `data`. */
const KINDS: Record<Kind, readonly [when: string, data: Record<string, TSchema>]> = {
  'message.received': ['A contact wrote. With a file: after the first attempt to fetch it.', aboutMessage],
  'message.sent': ['WhatsApp accepted a message', aboutStatus],
  'message.delivered': ["A message reached the contact's phone", aboutStatus],
  'message.read': ['The contact read a message', aboutStatus],
  'message.failed': ['A message was refused, or could not be delivered', aboutStatus],
  'message.reaction': ['The contact reacted to a message, or a reaction was sent', aboutMessage],
  'contact.created': ['A contact was created by the API, an import or a message', aboutContact],
  'contact.updated': ['A contact changed', aboutContact],
  'contact.opted_out': ['A contact opted out of broadcasts', aboutContact],
  'contact.merged': [
    'Two contacts turned out to be one person. `contact` has the conversation of both.',
    {
      contact: ContactSchema,
      merged_contact_id: Type.String({ format: 'uuid', description: 'The contact that is no more' }),
      cause: Type.Enum([...MERGE_CAUSES], {
        description:
          '`seen_together`: a message or status had the number and the user id; `announced`: WhatsApp announced the change',
      }),
    },
  ],
  'contact.unmerged': [
    'A member of the team undid a merge. `contact` has its own conversation again.',
    {
      contact: ContactSchema,
      kept_contact_id: Type.String({ format: 'uuid', description: 'The contact that had its conversation meanwhile' }),
    },
  ],
  'broadcast.started': ['A broadcast started', aboutBroadcast],
  'broadcast.completed': ['A broadcast completed', aboutBroadcast],
  'template.status_changed': ['WhatsApp approved, paused or deleted a template', { template: TemplateSchema }],
  'webhook.disabled': [
    'A webhook was disabled automatically',
    { webhook: WebhookSchema, reason: Type.String({ description: 'Why it was disabled' }) },
  ],
  'webhook.test': ['POST /set-webhooks/{id}/test was called', { webhook: WebhookSchema }],
}

/** The requests that endpoints get. */
export const eventWebhooks: readonly WebhookParts[] = Object.entries(KINDS).map(([kind, [when, data]]) => {
  const name = nameOfKind(kind)
  const body = named(
    `${name}Event`,
    Type.Object(
      {
        id: Type.Optional(
          Type.String({
            format: 'uuid',
            description: 'Only in GET /events: deliveries have it as the header webhook-id',
          }),
        ),
        type: Type.Literal(kind),
        timestamp: Type.String({ format: 'date-time', description: 'When it happened' }),
        data: Type.Object(data, { description: 'The objects as they were then' }),
      },
      { description: when },
    ),
  )
  return { kind, operationId: `events.on${name}`, summary: when, body }
})

/** An event, as it is posted and as the feed shows it. */
export const EventSchema = named(
  'Event',
  Type.Unsafe<object>({
    type: 'object',
    discriminator: { propertyName: 'type' },
    oneOf: eventWebhooks.map(({ body }) => body),
  }),
)
