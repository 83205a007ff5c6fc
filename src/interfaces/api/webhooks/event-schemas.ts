import { type TSchema, Type } from 'typebox'
import { nameOfKind, type WebhookParts } from '../../../http/description/describe.js'
import { named } from '../../../http/description/name-schemas.js'
import { NumberState } from '../../../http/description/number-schemas.js'
import { MERGE_CAUSES } from '../../../model/contacts/merge.js'
import { Nullable } from '../../../model/fields.js'
import { NoticeSchema } from '../../../model/organizations/notice.js'
import { PhoneHistorySchema } from '../../../model/organizations/phone-history.js'
import type { EVENT_KINDS, TEST_KIND } from '../../../model/webhooks/webhook.js'
import { BroadcastSchema } from '../broadcasts/schemas.js'
import { ScheduledSchema } from '../messages/scheduled-fields.js'
import { ContactSchema, MessageSchema, TemplateSchema } from '../schemas.js'
import { WebhookSchema } from './schemas.js'

type Kind = (typeof EVENT_KINDS)[number] | typeof TEST_KIND

const aboutMessage = { message: MessageSchema, contact: ContactSchema }
const Word = Nullable(Type.String())
const Pricing = Type.Object(
  {
    billable: Nullable(Type.Boolean()),
    model: Word,
    type: Word,
    category: Word,
    country: Nullable(Type.String({ description: "Of the recipient's number or user id, ISO 3166" })),
  },
  { description: 'What WhatsApp says about the price; absent if it says nothing, which does not mean free' },
)
const aboutStatus = {
  ...aboutMessage,
  previous_status: Type.Optional(MessageSchema.properties.message_status),
  pricing: Type.Optional(Pricing),
}
const aboutEdit = { ...aboutMessage, previous_message: Type.String({ description: 'The text before the edit' }) }
const aboutCall = {
  ...aboutMessage,
  call: Type.Object({
    direction: Type.Enum(['inbound', 'outbound']),
    outcome: Type.Enum(['missed', 'answered', 'rejected', 'failed']),
    seconds: Nullable(Type.Integer({ description: 'How long it was; null if WhatsApp does not say so' })),
  }),
}
const aboutHandover = {
  ...aboutMessage,
  handover: Type.Object({
    holder: Type.Enum(['us', 'other'], { description: 'Who answers now' }),
    previous_role: Nullable(Type.String()),
    new_role: Nullable(Type.String()),
    note: Nullable(Type.String({ description: 'What the one who handed it over says' })),
    summary: Nullable(Type.String({ description: "What was said before, by a model of WhatsApp's" })),
  }),
}
const aboutContact = { contact: ContactSchema }
const Words = Nullable(Type.String({ description: "The text of the reply, or WhatsApp's sentence" }))
const At = Type.String({ format: 'date-time', description: 'Since when it counts' })
const aboutOptOut = { ...aboutContact, source: Type.Enum(['reply', 'upstream', 'import']), words: Words, at: At }
const aboutOptIn = { ...aboutContact, source: Type.Enum(['reply', 'upstream']), words: Words, at: At }
const aboutNotice = { notice: NoticeSchema }
const aboutBroadcast = { broadcast: BroadcastSchema }

/** When an event of each kind happens, and the objects in its `data`. */
const KINDS: Record<Kind, readonly [when: string, data: Record<string, TSchema>]> = {
  'message.received': ['A contact wrote. With a file: after the first attempt to fetch it.', aboutMessage],
  'message.scheduled': [
    'A message was accepted to be sent later, or its time or text was changed',
    { scheduled: ScheduledSchema, contact: ContactSchema },
  ],
  'message.sent': ['WhatsApp accepted a message', aboutStatus],
  'message.delivered': ["A message reached the contact's phone", aboutStatus],
  'message.read': ['The contact read a message', aboutStatus],
  'message.failed': ['A message was refused, or could not be delivered', aboutStatus],
  'message.reaction': ['The contact reacted to a message, or a reaction was sent', aboutMessage],
  'message.edited': ['The author of a message changed its text', aboutEdit],
  'message.deleted': ['The author of a message deleted it for everyone', aboutMessage],
  'call.missed': ['A contact called, and nobody answered', aboutCall],
  'call.ended': ['A call ended, or the contact did not answer one', aboutCall],
  'conversation.handed_over': [
    "A conversation was handed over between WhatsApp's own agent, another app, and you",
    aboutHandover,
  ],
  'group.updated': [
    'A group of a business number changed: members, name, suspension. The `content` of the message says how.',
    aboutMessage,
  ],
  'contact.created': ['A contact was created by the API, an import or a message', aboutContact],
  'contact.updated': ['A contact changed', aboutContact],
  'contact.opted_out': ['A contact opted out of broadcasts', aboutOptOut],
  'contact.opted_in': ['A contact that had opted out opted in again', aboutOptIn],
  'contact.merged': [
    'Two contacts turned out to be one person. `contact` has the conversation of both.',
    {
      contact: ContactSchema,
      merged_contact_id: Type.String({ format: 'uuid', description: 'The contact that is no more' }),
      cause: Type.Enum([...MERGE_CAUSES], {
        description:
          '`seen_together`: something that WhatsApp reported had the addresses of both; `announced`: WhatsApp announced the change',
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
  'template.updated': ["A template's category or content changed", { template: TemplateSchema }],
  'template.quality_changed': [
    'WhatsApp reported another quality of a template',
    {
      template: TemplateSchema,
      quality: Type.String({ description: 'GREEN, YELLOW, RED or UNKNOWN' }),
      previous_quality: Nullable(Type.String()),
    },
  ],
  'account.updated': ['WhatsApp reported something about the account', aboutNotice],
  'number.updated': [
    "A check of the organization's number found a problem, or that one is gone, or its access token ends soon; then it has `number`. Or WhatsApp reported something about a business number; then it has `notice`.",
    {
      number: Type.Optional(NumberState),
      previous_state: Type.Optional(NumberState.properties.state),
      notice: Type.Optional(NoticeSchema),
    },
  ],
  'history.imported': [
    'More of the history of a number that is also used on a phone was taken in, or the business did not share it',
    { history: PhoneHistorySchema },
  ],
  'webhook.disabled': [
    'A webhook was disabled automatically',
    { webhook: WebhookSchema, reason: Type.String({ description: 'Why it was disabled' }) },
  ],
  'webhook.test': ['POST /set-webhooks/{id}/test was called', { webhook: WebhookSchema }],
}

/** Events about the text of a message have it as of then. */
const ABOUT_TEXTS: ReadonlySet<string> = new Set<Kind>(['message.edited', 'message.deleted'])
const AS_OF_THEN = 'The objects, as they were at the time of the event'
const AS_OF_NOW =
  'The objects. The message has the status, error and reactions that it had at the time of the event; its contact, ' +
  'and all else of it, are as of now'

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
        data: Type.Object(data, { description: 'message' in data && !ABOUT_TEXTS.has(kind) ? AS_OF_NOW : AS_OF_THEN }),
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
