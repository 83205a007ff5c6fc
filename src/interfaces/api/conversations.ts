import { type Static, Type } from 'typebox'
import type { Context } from '../../context.js'
import { type ContactReference, findContact } from '../../core/contacts/contacts.js'
import { listContacts } from '../../core/contacts/list.js'
import { type PageRequest, readConversation, searchConversation } from '../../core/conversations/read.js'
import { findBusinessNumbers } from '../../core/organizations/numbers.js'
import { onReplica } from '../../core/requests/replica.js'
import { findOrderTerms, requireOrderId } from '../../core/storefront/orders.js'
import { tenantOf } from '../../http/access/auth.js'
import { successAnswer } from '../../http/description/name-schemas.js'
import { presentContact } from '../../model/contacts/contact.js'
import { MAX_NUMBER_INPUT } from '../../model/contacts/written-number.js'
import { readSearchTerms } from '../../model/conversations/search-terms.js'
import { Nullable, page } from '../../model/fields.js'
import { presentMessageOf } from '../../model/messages/message.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { PAGE_SIZE, paginationOf } from './pagination.js'
import { ContactAnswer, ContactSchema, MessageSchema, responses, tenantId } from './schemas.js'
import type { ApiServer } from './server.js'

const MESSAGES_A_PAGE = 10

/** The query parameters that name whose conversation it is. */
export const conversationQuery = {
  chatNumber: Type.Optional(
    Type.String({ description: 'Phone number of the contact, in any form, or user id', maxLength: MAX_NUMBER_INPUT }),
  ),
  contactId: Type.Optional(Type.String({ format: 'uuid', description: 'Instead of chatNumber' })),
}

const Query = Type.Object({
  action: Type.Optional(
    Type.Enum(['conversation-messages', 'contacts', 'find-by-phone'], { default: 'conversation-messages' }),
  ),
  ...conversationQuery,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: `By default ${MESSAGES_A_PAGE} messages, or ${PAGE_SIZE} contacts`,
    }),
  ),
  page,
  query: Type.Optional(
    Type.String({
      description: 'Only messages that contain one of these terms, separated by commas. Case and accents are ignored.',
      maxLength: 10_000,
    }),
  ),
  orderId: Type.Optional(
    Type.String({
      description:
        'Only messages that contain the number or name of this order. The value is the id of the order in the storefront.',
      maxLength: 100,
    }),
  ),
  ascending: Type.Optional(Type.Boolean({ default: false, description: 'Messages only: true = oldest first' })),
  search: Type.Optional(
    Type.String({
      description: 'Contacts only: a part of the name, username or number, or a whole user id',
      maxLength: 200,
    }),
  ),
  tenantId,
})

const Terms = Nullable(Type.Array(Type.String()))

const MessagePagination = paginationOf('totalMessages', 'messagesPerPage')
const ContactPagination = paginationOf('totalContacts', 'contactsPerPage')

const MessagesAnswer = successAnswer('MessagesAnswer', {
  messages: Type.Array(MessageSchema),
  pagination: MessagePagination.schema,
  count: Type.Integer({ minimum: 0, description: 'Messages in this answer' }),
  searchTerms: Terms,
  filtered: Type.Boolean({ description: 'True if the messages were searched' }),
  stored: Type.Boolean({ description: 'True if the contact has any messages' }),
})

const ContactsAnswer = successAnswer('ContactsAnswer', {
  contacts: Type.Array(ContactSchema),
  pagination: ContactPagination.schema,
  count: Type.Integer({ minimum: 0, description: 'Contacts in this answer' }),
  searchTerms: Terms,
  filtered: Type.Boolean({ description: 'True if the contacts were searched' }),
})

const Answer = Type.Union([MessagesAnswer, ContactsAnswer, ContactAnswer], {
  description: 'The answer of the actions conversation-messages, contacts, and find-by-phone',
})

/** `GET /conversations`, three actions in one. */
export function conversationRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/conversations',
    {
      config: { scope: 'conversations:read' },
      schema: {
        operationId: 'conversations.list',
        summary: 'Read or search a conversation, list contacts, or find a contact by its number',
        querystring: Query,
        response: responses({ 200: Answer }, 400, 404, 500),
      },
    },
    async (request) => {
      const organization = tenantOf(request)
      switch (request.query.action) {
        case 'contacts':
          return answerContacts(ctx, organization, request.query)
        case 'find-by-phone':
          return answerContact(ctx, organization, request.query)
        default:
          return answerMessages(ctx, organization, request.query)
      }
    },
  )
}

type Asked = Static<typeof Query>

async function answerMessages(ctx: Context, organization: Organization, asked: Asked) {
  const { limit = MESSAGES_A_PAGE, page = 1, ascending = false } = asked
  const reference = readReference(asked)
  const terms = readSearchTerms(asked.query ?? '')
  const orderId = asked.orderId ? requireOrderId(asked.orderId) : null
  const contact = await findContact(ctx, organization, reference, 'query')
  if (orderId !== null) terms.push(...(await findOrderTerms(ctx, organization, orderId)))
  const wanted: PageRequest = { page, limit, ascending }
  const filtered = terms.length > 0
  const { messages, total } = filtered
    ? await searchConversation(onReplica(ctx), contact, terms, wanted)
    : await readConversation(ctx, contact, wanted)
  const numbers = await findBusinessNumbers(ctx, organization.id)
  return {
    success: true,
    messages: messages.map((message) => presentMessageOf(message, ctx.mediaLinks.urlOf, numbers)),
    pagination: MessagePagination.show(page, limit, total),
    count: messages.length,
    searchTerms: filtered ? [...new Set(terms.map(({ text }) => text))] : null,
    filtered,
    stored: contact.last_seq > contact.pruned_seq,
  }
}

async function answerContacts(ctx: Context, organization: Organization, asked: Asked) {
  const { limit = PAGE_SIZE, page = 1 } = asked
  const search = asked.search?.trim() || null
  const { contacts, total } = await listContacts(ctx, organization, { search, page, limit })
  const now = ctx.clock()
  return {
    success: true,
    contacts: contacts.map((contact) => presentContact(contact, now)),
    pagination: ContactPagination.show(page, limit, total),
    count: contacts.length,
    searchTerms: search === null ? null : [search],
    filtered: search !== null,
  }
}

async function answerContact(ctx: Context, organization: Organization, { chatNumber, contactId }: Asked) {
  if (!chatNumber) throw new Problem('missing_parameter', 'chatNumber query parameter is required for find-by-phone')
  const contact = await findContact(ctx, organization, { chatNumber, contactId }, 'query')
  return { success: true, contact: presentContact(contact, ctx.clock()) }
}

/** The contact whose conversation is requested; an empty chatNumber counts as absent. Throws missing_parameter. */
export function readReference({ chatNumber, contactId }: Pick<Asked, 'chatNumber' | 'contactId'>): ContactReference {
  if (!chatNumber && contactId === undefined) {
    throw new Problem('missing_parameter', 'chatNumber (or contactId) query parameter is required')
  }
  return { chatNumber: chatNumber || undefined, contactId }
}
