import { type TSchema, Type } from 'typebox'
import { nameOfKind, type WebhookParts } from '../../http/description/describe.js'
import { named } from '../../http/description/name-schemas.js'
import { Nullable } from '../../model/fields.js'
import type { GatewayEventName } from '../../model/instances/gateway-event.js'
import { ConnectionState } from './instances/schemas.js'
import { GatewayMessageSchema } from './schemas.js'

const OptionalText = Nullable(Type.String())

const MessageUpdate = Type.Object({
  messageId: Type.Optional(Type.String({ description: "Parley's id of the message; absent of votes" })),
  keyId: Type.String({ description: 'Its id at WhatsApp' }),
  remoteJid: Type.String(),
  fromMe: Type.Boolean(),
  participant: Type.Optional(Type.String({ description: 'The member of a group who wrote it' })),
  status: Type.Enum(['SENT', 'DELIVERED', 'READ', 'FAILED', 'DELIVERY_ACK', 'ERROR', 'SERVER_ACK'], {
    description:
      'Of a business number `SENT`, `DELIVERED`, `READ`, `FAILED`; of other kinds `DELIVERY_ACK`, `READ`, `ERROR`, and of votes `SERVER_ACK`',
  }),
  pollUpdates: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), voters: Type.Array(Type.String()) }), {
      description: 'A vote: the options of the poll, with the voter at those that were chosen. Absent otherwise',
    }),
  ),
  instanceId: Type.String({ format: 'uuid' }),
})

const MessageEdit = Type.Object({
  key: GatewayMessageSchema.properties.key,
  type: Type.Literal('MESSAGE_EDIT'),
  editedMessage: Type.Object({ conversation: Type.String({ description: 'The new text' }) }),
  timestampMs: Type.Integer(),
  instanceId: Type.String({ format: 'uuid' }),
})

const DeletedMessage = Type.Object({
  ...GatewayMessageSchema.properties.key.properties,
  ...GatewayMessageSchema.properties,
  status: Type.Literal('DELETED'),
})

const Contact = Type.Object({
  remoteJid: Type.String(),
  pushName: OptionalText,
  profilePicUrl: Type.Null(),
  instanceId: Type.String({ format: 'uuid' }),
})

const Connection = Type.Object({
  instance: Type.String(),
  state: ConnectionState,
  statusReason: Type.Integer(),
  wuid: Type.Optional(OptionalText),
  profileName: Type.Optional(OptionalText),
  profilePictureUrl: Type.Optional(OptionalText),
})

const Code = Type.Object({
  qrcode: Type.Object({ instance: Type.String(), pairingCode: OptionalText, code: OptionalText, base64: OptionalText }),
})

/** What the network of a linked device tells, as the library has it. */
const Told = (description: string) => Type.Object({}, { additionalProperties: true, description })

/** When each event happens, and its `data`. */
const EVENTS: Record<GatewayEventName, readonly [when: string, data: TSchema]> = {
  'messages.upsert': ['A contact wrote or reacted, or the linked phone sent a message', GatewayMessageSchema],
  'send.message': ['Parley sent a message or a reaction', GatewayMessageSchema],
  'messages.update': ['A sent message was delivered, was read, or failed', MessageUpdate],
  'messages.edited': ['A contact changed a message', MessageEdit],
  'messages.delete': ['A contact deleted a message', DeletedMessage],
  'contacts.upsert': ['A contact was created', Contact],
  'contacts.update': ['A contact changed', Contact],
  'connection.update': ["The instance's connection changed", Connection],
  'qrcode.updated': ['There is a new code to scan', Code],
  'logout.instance': ["The instance's session ended", Type.Null()],
  'presence.update': ['Somebody is online, typing or recording', Told('`{id, presences}`')],
  call: ['Somebody calls, or a call ended', Told('`{chatId, from, id, date, status, isVideo?, isGroup?}`')],
  'groups.upsert': ['A group was created, or this number joined it', Type.Array(Told('`{id, subject, …}`'))],
  'groups.update': ['A group got another name or description', Type.Array(Told('`{id, subject?, desc?, …}`'))],
  'group-participants.update': [
    'Members joined or left a group, or became admins or no longer are',
    Told('`{id, participants, action (add, remove, promote, demote), author?}`'),
  ],
}

/** The requests that the webhook of an instance gets. */
export const gatewayWebhooks: readonly WebhookParts[] = Object.entries(EVENTS).map(([kind, [when, data]]) => {
  const name = nameOfKind(kind)
  return {
    kind,
    operationId: `event.on${name}`,
    summary: when,
    body: named(
      `${name}Event`,
      Type.Object({
        event: Type.Literal(kind),
        instance: Type.String({ description: "The instance's name" }),
        data,
        destination: Type.String({ description: "The webhook's url" }),
        date_time: Type.String({ format: 'date-time', description: 'When it happened' }),
        sender: Type.String({ description: "The instance's own number; empty while it is not known" }),
        server_url: Type.String({ description: 'The address of the gateway' }),
        apikey: Type.Null(),
      }),
    ),
  }
})
