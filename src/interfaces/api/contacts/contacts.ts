import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import { blockAtUpstream } from '../../../core/contacts/block-upstream.js'
import {
  type ContactReference,
  changeContact,
  createContact,
  findContact,
  getContact,
} from '../../../core/contacts/contacts.js'
import { eraseContact } from '../../../core/contacts/erase-contact.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { presentContact } from '../../../model/contacts/contact.js'
import { ChangeContact, CreateContact } from '../../../model/contacts/contact-input.js'
import { Nullable } from '../../../model/fields.js'
import { Problem } from '../../../model/problem.js'
import { ContactAnswer, ContactSchema, contactQuery, DoneAnswer, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const ChangedContactAnswer = successAnswer('ChangedContactAnswer', {
  contact: ContactSchema,
  upstream_block: Type.Optional(
    Type.Object(
      {
        done: Type.Boolean(),
        code: Nullable(Type.Integer({ description: "The upstream's error code" })),
        text: Nullable(Type.String({ description: 'Why it was not done' })),
      },
      { description: 'Whether WhatsApp blocked or unblocked the contact, too; absent if it was not asked' },
    ),
  ),
})

/** `/contact`: look up, create, change, erase. */
export function contactRoutes(server: ApiServer, ctx: Context): void {
  const present = (contact: Parameters<typeof presentContact>[0]) => ({
    success: true,
    contact: presentContact(contact, ctx.clock()),
  })

  server.get(
    '/contact',
    {
      config: { scope: 'contacts:read' },
      schema: {
        operationId: 'contacts.get',
        summary: 'Look up a contact by its phone number or user id',
        querystring: Type.Object(contactQuery),
        response: responses({ 200: ContactAnswer }, 400, 404),
      },
    },
    async (request) => present(await findContact(ctx, tenantOf(request), readReference(request.query), 'query')),
  )

  server.post(
    '/contact',
    {
      config: { scope: 'contacts:write' },
      schema: {
        operationId: 'contacts.create',
        summary: 'Create a contact',
        querystring: Type.Object({ tenantId }),
        body: named('CreateContact', CreateContact),
        response: responses({ 201: ContactAnswer }, 400, 409, 422),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: async (id) => {
          const contact = await createContact(ctx, tenantOf(request), request.body, id)
          return { status: 201, body: present(contact), final: true }
        },
        recover: async (id) => {
          const contact = await getContact(ctx, tenantOf(request), id)
          return contact && { status: 201, body: present(contact), final: true }
        },
      }),
  )

  server.patch(
    '/contact',
    {
      config: { scope: 'contacts:write' },
      schema: {
        operationId: 'contacts.update',
        summary: 'Change a contact',
        querystring: Type.Object(contactQuery),
        body: named('ChangeContact', ChangeContact),
        response: responses({ 200: ChangedContactAnswer }, 400, 404),
      },
    },
    async (request) => {
      const tenant = tenantOf(request)
      const reference = readReference(request.query)
      const changes = pickChanges(request.body)
      if (changes.blocked === undefined) return present(await changeContact(ctx, tenant, reference, changes))
      const contact = await changeContact(ctx, tenant, reference, changes)
      // Also if nothing changed here: the upstream may have failed the last time.
      const block = await blockAtUpstream(ctx, tenant, contact)
      return { ...present(contact), ...(block && { upstream_block: block }) }
    },
  )

  server.delete(
    '/contact',
    {
      config: { scope: 'contacts:write' },
      schema: {
        operationId: 'contacts.erase',
        summary: 'Erase a contact and its messages',
        querystring: Type.Object(contactQuery),
        response: responses({ 200: DoneAnswer }, 400, 404, 409),
      },
    },
    async (request) => {
      const contact = await eraseContact(ctx, tenantOf(request), readReference(request.query))
      return { success: true, message: `The contact ${contact.chat_id} and its messages have been erased` }
    },
  )
}

/** Surplus fields are ignored; none of them may reach the row. */
function pickChanges(body: Static<typeof ChangeContact>): Static<typeof ChangeContact> {
  const known = Object.entries(body).filter(([name]) => Object.hasOwn(ChangeContact.properties, name))
  return Object.fromEntries(known)
}

function readReference({ phone_number, chat_id, user_id }: ContactReference): ContactReference {
  if (!phone_number && !chat_id && !user_id) {
    throw new Problem('missing_parameter', 'phone_number (or chat_id) query parameter is required')
  }
  // An empty parameter counts as absent.
  return { phone_number: phone_number || undefined, chat_id: chat_id || undefined, user_id: user_id || undefined }
}
