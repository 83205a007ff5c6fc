import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import {
  type ContactSearch,
  findContacts,
  findContactsOfInstance,
} from '../../../core/instances/chats/find-contacts.js'
import type { GatewayPage } from '../../../core/instances/chats/find-messages.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named } from '../../../http/description/name-schemas.js'
import { isUuid } from '../../../lib/bytes/id.js'
import { type Contact, toIso } from '../../../model/contacts/contact.js'
import { Maybe } from '../../../model/fields.js'
import { jidOf } from '../../../model/instances/gateway-message.js'
import { requireRouteInstance, usesInstanceToken } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { given, Jid, MAX_ID, MAX_PAGE, paging, readPage } from './schemas.js'

const NamePart = Type.String({ maxLength: 200, description: 'A part of the name. Case and accents are ignored.' })

const FindBody = named(
  'FindContacts',
  Type.Object({
    where: Maybe(
      Type.Object({
        id: Maybe(Type.String({ maxLength: MAX_ID, description: "Parley's id; any other value is read as remoteJid" })),
        remoteJid: Maybe(Jid),
        pushName: Maybe(Type.Union([NamePart, Type.Object({ contains: Maybe(NamePart) })])),
      }),
    ),
    ...paging(MAX_PAGE),
  }),
)

const OptionalText = Type.Union([Type.String(), Type.Null()])

const Answer = Type.Array(
  Type.Object({
    id: Type.String(),
    remoteJid: Type.String(),
    pushName: OptionalText,
    profilePicUrl: Type.Null(),
    createdAt: Type.String(),
    updatedAt: Type.String(),
    instanceId: Type.String(),
    isGroup: Type.Boolean(),
    isSaved: Type.Boolean(),
    type: Type.Enum(['contact', 'group']),
  }),
)

/** `POST GET /chat/findContacts`. */
export function contactRoutes(server: GatewayServer, ctx: Context): void {
  const description = {
    summary: "Find the organization's contacts, most recently active first",
    description:
      'All instances of an organization share its contacts. The token of an instance finds only contacts with a message there.',
    params: instancePath,
    response: responses({ 200: Answer }, 400, 404),
  }

  server.post(
    '/chat/findContacts/:instance',
    {
      schema: { ...description, body: FindBody },
    },
    (request) => find(request, readSearch(request.body), readPage(request.body, MAX_PAGE)),
  )

  server.get('/chat/findContacts/:instance', { schema: description }, (request) =>
    find(request, readSearch({}), readPage({}, MAX_PAGE)),
  )

  async function find(request: FastifyRequest, search: ContactSearch, page: GatewayPage) {
    const instance = await requireRouteInstance(ctx, request)
    const tenant = tenantOf(request)
    const contacts = usesInstanceToken(request)
      ? await findContactsOfInstance(ctx, tenant, instance, { search, page })
      : await findContacts(ctx, tenant, search, page)
    return contacts.map((contact) => presentContact(contact, instance.id))
  }
}

/** An `id` that is not a UUID is read as a JID, which some clients send there. */
function readSearch({ where }: Static<typeof FindBody>): ContactSearch {
  const id = given(where?.id)
  const { pushName } = where ?? {}
  const name = typeof pushName === 'string' ? pushName : pushName?.contains
  return {
    id: id !== null && isUuid(id) ? id : null,
    remoteJid: given(where?.remoteJid) ?? id,
    pushName: given(name?.trim()),
  }
}

function presentContact(contact: Contact, instanceId: string) {
  const remoteJid = jidOf(contact)
  const isGroup = remoteJid.endsWith('@g.us')
  return {
    id: contact.id,
    remoteJid,
    pushName: contact.full_name,
    profilePicUrl: null,
    createdAt: toIso(contact.created_at),
    updatedAt: toIso(contact.updated_at),
    instanceId,
    isGroup,
    isSaved: contact.full_name !== null,
    type: isGroup ? 'group' : 'contact',
  }
}
