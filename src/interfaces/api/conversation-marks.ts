import { type Static, Type } from 'typebox'
import type { Context } from '../../context.js'
import { type ContactReference, findContact } from '../../core/contacts/contacts.js'
import { readConversationUpTo } from '../../core/instances/chats/read-conversation.js'
import { showTyping } from '../../core/instances/chats/show-typing.js'
import { tenantOf } from '../../http/access/auth.js'
import { named, successAnswer } from '../../http/description/name-schemas.js'
import { answerOnce } from '../../http/idempotency.js'
import type { Contact } from '../../model/contacts/contact.js'
import { userIdField } from '../../model/contacts/contact-input.js'
import { MAX_NUMBER_INPUT } from '../../model/contacts/written-number.js'
import { Maybe } from '../../model/fields.js'
import { LIMITS } from '../../model/messages/limits.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { DoneAnswer, responses, tenantId } from './schemas.js'
import type { ApiServer } from './server.js'

/** Whose conversation it is: one of them. */
const person = {
  phone_number: Maybe(
    Type.String({
      maxLength: MAX_NUMBER_INPUT,
      description: 'Number of the contact, in any form. Or give chat_id, user_id or contactId.',
    }),
  ),
  chat_id: Maybe(Type.String({ maxLength: MAX_NUMBER_INPUT })),
  user_id: userIdField("WhatsApp's user id, or parent user id, of the contact"),
  contactId: Maybe(Type.String({ format: 'uuid' })),
}

const messageId = (description: string) => Maybe(Type.String({ maxLength: 512, description }))

const ReadBody = named(
  'ReadConversation',
  Type.Object({
    ...person,
    message_id: messageId('Mark the messages up to this one, by either of its ids. By default all.'),
  }),
)

const TypingBody = named(
  'ShowTyping',
  Type.Object({
    ...person,
    message_id: messageId('The received message that is answered, by either of its ids. By default the newest.'),
    instance: Maybe(
      Type.String({
        maxLength: LIMITS.instanceName,
        description: "The instance that shows it. By default the organization's own number.",
      }),
    ),
  }),
)

const ReadAnswer = successAnswer('ReadAnswer', {
  message: Type.String(),
  marked: Type.Integer({ minimum: 0, description: 'How many messages were unread' }),
  reported: Type.Boolean({
    description: 'Whether WhatsApp has taken the mark, so that the customer can see it. If not, repeat the request.',
  }),
})

/** `POST /conversations/read`, `POST /conversations/typing`. */
export function conversationMarkRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/conversations/read',
    {
      config: { scope: 'messages:send' },
      schema: {
        operationId: 'conversations.read',
        summary: 'Mark the messages of a contact as read',
        querystring: Type.Object({ tenantId }),
        body: ReadBody,
        response: responses({ 200: ReadAnswer }, 400, 404, 409, 422),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: async () => {
          const tenant = tenantOf(request)
          const contact = await findPerson(ctx, tenant, request.body)
          const upTo = request.body.message_id || null
          const { marked, isReported } = await readConversationUpTo(ctx, tenant, contact, upTo)
          const what = marked === 1 ? '1 message' : `${marked} messages`
          const message = `${what} of ${contact.chat_id} ${marked === 1 ? 'is' : 'are'} marked as read`
          return { status: 200, body: { success: true, message, marked, reported: isReported }, final: true }
        },
        recover: async () => null,
      }),
  )

  server.post(
    '/conversations/typing',
    {
      config: { scope: 'messages:send' },
      schema: {
        operationId: 'conversations.typing',
        summary: 'Show a contact that somebody is typing',
        description:
          'WhatsApp shows it until a message comes, for at most 25 seconds. A business number shows it below a received message, and marks it and all earlier ones as read.',
        querystring: Type.Object({ tenantId }),
        body: TypingBody,
        response: responses({ 200: DoneAnswer }, 400, 404, 409, 422, 500, 501),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: async () => {
          const tenant = tenantOf(request)
          const { message_id, instance } = request.body
          const contact = await findPerson(ctx, tenant, request.body)
          await showTyping(ctx, tenant, { contact, messageId: message_id || null, instance: instance || null })
          const body = { success: true, message: `${contact.chat_id} sees that somebody is typing` }
          return { status: 200, body, final: true }
        },
        recover: async () => null,
      }),
  )
}

const PersonBody = Type.Object(person)

function findPerson(ctx: Context, tenant: Tenant, given: Static<typeof PersonBody>): Promise<Contact> {
  const reference: ContactReference = {
    phone_number: given.phone_number || undefined,
    chat_id: given.chat_id || undefined,
    user_id: given.user_id || undefined,
    contactId: given.contactId || undefined,
  }
  if (Object.values(reference).every((value) => value === undefined)) {
    throw new Problem(
      'missing_field',
      'phone_number (or chat_id, user_id, or contactId) is required and must not be empty',
    )
  }
  return findContact(ctx, tenant, reference, 'body')
}
