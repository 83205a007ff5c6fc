import { Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { WebhookBody } from '../webhook.js'
import { SettingsSchema, settingsFields } from './settings.js'

const Flag = (description: string) => Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description }))
const Events = Type.Optional(
  Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }), Type.Null()], {
    description: 'Which events are posted. An empty list: all of them.',
  }),
)
const Url = Type.String({ maxLength: 2_048 })
const BY_EVENTS = 'Each event goes to its own path below the url'
const WITH_BASE64 = 'Files are posted in Base64 with their message'

/** The body of instance/create, with the fields of both versions. */
export const CreateBody = named(
  'CreateInstance',
  Type.Object({
    instanceName: Type.String({ minLength: 1, description: 'Unique in the organization' }),
    integration: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'Required. `WHATSAPP-BAILEYS`: a phone that is linked by a QR code; `WHATSAPP-BUSINESS`: a number of the business platform; `SANDBOX`: a simulated phone. Case is ignored.',
      }),
    ),
    token: Type.Optional(
      Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()], {
        description:
          'The token of the instance, at least 24 characters. By default a new one is created. For a business number without accessToken it is the access token of the number, which then also opens the instance if nothing else uses it.',
      }),
    ),
    accessToken: Type.Optional(
      Type.Union([Type.String({ maxLength: 2_048 }), Type.Null()], {
        description:
          'For a business number of its own: the access token. `token` is then only the token of the instance.',
      }),
    ),
    number: Type.Optional(
      Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
        description:
          "For a linked phone: its number, to get a pairing code. For a business number: its id at WhatsApp; by default the organization's number.",
      }),
    ),
    businessId: Type.Optional(
      Type.Union([Type.String({ maxLength: 100 }), Type.Null()], { description: 'The business account of the number' }),
    ),
    appSecret: Type.Optional(
      Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()], {
        description: 'Signs the callbacks of the number. Without it they are refused.',
      }),
    ),
    verifyToken: Type.Optional(
      Type.Union([Type.String({ maxLength: 256 }), Type.Null()], {
        description: 'A value of your choice, with which WhatsApp verifies the callback address of the number',
      }),
    ),
    qrcode: Flag('Return a code to scan'),
    webhook: Type.Optional(
      Type.Union([WebhookBody, Url, Type.Null()], {
        description: 'Where events are posted. Older clients give only the url here, and the other fields next to it.',
      }),
    ),
    webhook_by_events: Flag(BY_EVENTS),
    webhookByEvents: Flag(BY_EVENTS),
    webhook_base64: Flag(WITH_BASE64),
    webhookBase64: Flag(WITH_BASE64),
    events: Events,
    ...settingsFields,
  }),
)

/** The body of instance/setPresence. */
export const PresenceBody = named(
  'SetPresence',
  Type.Object({
    presence: Type.Enum(['unavailable', 'available', 'composing', 'recording', 'paused']),
  }),
)

const Nothing = Type.Object({}, { additionalProperties: false })
const OrNull = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()])

/** A code that links a phone. */
export const CodeAnswer = named(
  'Code',
  Type.Object({
    pairingCode: OrNull(Type.String({ description: 'The code to type on the phone. Null if no number was given.' })),
    code: OrNull(Type.String({ description: 'The text of the QR code' })),
    base64: OrNull(Type.String({ description: 'The QR code: data:image/png;base64,…' })),
    count: Type.Integer({ minimum: 0, description: 'Number of codes since the connection was last closed' }),
  }),
)

export const ConnectionState = Type.Enum(['open', 'connecting', 'close'])

/** The state of an instance's connection. */
export const StateAnswer = named(
  'StateAnswer',
  Type.Object({
    instance: Type.Object({ instanceName: Type.String(), state: ConnectionState }),
  }),
)

/** The state after a restart, under both names that clients read. */
export const RestartAnswer = named(
  'RestartAnswer',
  Type.Object({
    instance: Type.Object({ instanceName: Type.String(), state: ConnectionState, status: ConnectionState }),
  }),
)

/** A confirmation in words. */
export const DoneAnswer = named(
  'DoneAnswer',
  Type.Object({
    status: Type.Literal('SUCCESS'),
    error: Type.Literal(false),
    response: Type.Object({ message: Type.String() }),
  }),
)

/** The answer of instance/create. */
export const CreateAnswer = named(
  'CreatedInstance',
  Type.Object({
    instance: Type.Object({
      instanceName: Type.String(),
      instanceId: Type.String({ format: 'uuid' }),
      integration: Type.String(),
      webhookWaBusiness: OrNull(Type.String({ description: 'The address for callbacks of the upstream' })),
      accessTokenWaBusiness: Type.Literal(''),
      status: ConnectionState,
    }),
    hash: Type.String({ description: "The instance's token, which may differ from the given one" }),
    webhook: Type.Union([
      Type.Object({
        webhookUrl: Type.String(),
        webhookHeaders: Type.Record(Type.String(), Type.String()),
        webhookByEvents: Type.Boolean(),
        webhookBase64: Type.Boolean(),
        secret: Type.Optional(Type.String({ description: 'whsec_…: shown only once' })),
      }),
      Nothing,
    ]),
    websocket: Nothing,
    rabbitmq: Nothing,
    nats: Nothing,
    sqs: Nothing,
    settings: SettingsSchema,
    qrcode: Type.Optional(CodeAnswer),
  }),
)

/** An instance in a list. */
export const InstanceRow = named(
  'Instance',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    connectionStatus: ConnectionState,
    ownerJid: OrNull(Type.String()),
    profileName: OrNull(Type.String()),
    profilePicUrl: OrNull(Type.String()),
    integration: Type.String(),
    number: OrNull(Type.String()),
    businessId: OrNull(Type.String()),
    token: Type.String(),
    clientName: Type.String(),
    disconnectionReasonCode: Type.Union([Type.Integer(), Type.Null()]),
    disconnectionObject: Type.Null(),
    disconnectionAt: OrNull(Type.String({ format: 'date-time' })),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
    Chatwoot: Type.Null(),
    Proxy: Type.Null(),
    Rabbitmq: Type.Null(),
    Nats: Type.Null(),
    Sqs: Type.Null(),
    Websocket: Type.Null(),
    Setting: Type.Object({
      id: Type.String({ format: 'uuid' }),
      ...SettingsSchema.properties,
      createdAt: Type.String({ format: 'date-time' }),
      updatedAt: Type.String({ format: 'date-time' }),
      instanceId: Type.String({ format: 'uuid' }),
    }),
    _count: Type.Object(
      { Message: Type.Integer(), Contact: Type.Integer(), Chat: Type.Integer() },
      {
        description:
          'All messages; contacts and chats are counted in the newest 10,000 messages, or fewer if many instances are listed',
      },
    ),
  }),
)
