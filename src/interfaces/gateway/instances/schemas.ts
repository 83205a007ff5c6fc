import { Type } from 'typebox'
import { WebhookBody } from '../webhook.js'
import { SettingsSchema, settingsFields } from './settings.js'

const Flag = (description: string) => Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description }))
const Events = Type.Optional(
  Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }), Type.Null()], {
    description: 'Which events are posted; none: all',
  }),
)
const Url = Type.String({ maxLength: 2_048 })
const BY_EVENTS = 'Each event goes to a path of its own below the url'
const WITH_BASE64 = 'The bytes of a file are posted with its message'

/** The body of instance/create, as clients of the newer version write it and as those of the older one do. */
export const CreateBody = Type.Object({
  instanceName: Type.String({ minLength: 1, description: 'Unique in the organization' }),
  integration: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        'WHATSAPP-BAILEYS = a phone that is linked by a QR code; WHATSAPP-BUSINESS = a number of the business API; SANDBOX = a pretend phone of the simulator; in any case. Required',
    }),
  ),
  token: Type.Optional(
    Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()], {
      description:
        'Opens the instance: at least 24 characters; made where it is left out. Of a business number of its own, without accessToken: its access token, which opens the instance too where nothing else is opened by it',
    }),
  ),
  accessToken: Type.Optional(
    Type.Union([Type.String({ maxLength: 2_048 }), Type.Null()], {
      description: 'Of a business number of its own: its access token; then token is the key of the instance only',
    }),
  ),
  number: Type.Optional(
    Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
      description:
        "Of a linked phone: its number, for a pairing code. Of the business API: the number's id; left out = the organization's number",
    }),
  ),
  businessId: Type.Optional(
    Type.Union([Type.String({ maxLength: 100 }), Type.Null()], { description: 'The business account of the number' }),
  ),
  appSecret: Type.Optional(
    Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()], {
      description: 'Signs the callbacks of the number; without it they are refused',
    }),
  ),
  verifyToken: Type.Optional(
    Type.Union([Type.String({ maxLength: 256 }), Type.Null()], {
      description: 'Chosen by you, for the upstream to verify the address of the callbacks of the number',
    }),
  ),
  qrcode: Flag('Show a code at once'),
  webhook: Type.Optional(
    Type.Union([WebhookBody, Url, Type.Null()], {
      description: 'Where events are posted; older clients write the url alone, and the rest beside it',
    }),
  ),
  webhook_by_events: Flag(BY_EVENTS),
  webhookByEvents: Flag(BY_EVENTS),
  webhook_base64: Flag(WITH_BASE64),
  webhookBase64: Flag(WITH_BASE64),
  events: Events,
  ...settingsFields,
})

/** The body of instance/setPresence. */
export const PresenceBody = Type.Object({
  presence: Type.Enum(['unavailable', 'available', 'composing', 'recording', 'paused']),
})

const Nothing = Type.Object({}, { additionalProperties: false })
const OrNull = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()])

/** A code that links a phone. */
export const CodeAnswer = Type.Object({
  pairingCode: OrNull(Type.String({ description: 'To be typed on the phone, where a number was given' })),
  code: OrNull(Type.String({ description: 'The text of the QR code' })),
  base64: OrNull(Type.String({ description: 'The QR code: data:image/png;base64,…' })),
  count: Type.Integer({ minimum: 0, description: 'How many codes have been shown since it was last closed' }),
})

const ConnectionState = Type.Enum(['open', 'connecting', 'close'])

/** Where an instance's connection stands. */
export const StateAnswer = Type.Object({
  instance: Type.Object({ instanceName: Type.String(), state: ConnectionState }),
})

/** The same after a restart, under both names that clients look for. */
export const RestartAnswer = Type.Object({
  instance: Type.Object({ instanceName: Type.String(), state: ConnectionState, status: ConnectionState }),
})

/** What has been done, in words. */
export const DoneAnswer = Type.Object({
  status: Type.Literal('SUCCESS'),
  error: Type.Literal(false),
  response: Type.Object({ message: Type.String() }),
})

/** The answer of instance/create. */
export const CreateAnswer = Type.Object({
  instance: Type.Object({
    instanceName: Type.String(),
    instanceId: Type.String({ format: 'uuid' }),
    integration: Type.String(),
    webhookWaBusiness: OrNull(Type.String({ description: 'Where the upstream posts its callbacks' })),
    accessTokenWaBusiness: Type.Literal(''),
    status: Type.Enum(['open', 'connecting', 'close']),
  }),
  hash: Type.String({ description: "The instance's token, which is not always the one that was given" }),
  webhook: Type.Union([
    Type.Object({
      webhookUrl: Type.String(),
      webhookHeaders: Type.Record(Type.String(), Type.String()),
      webhookByEvents: Type.Boolean(),
      webhookBase64: Type.Boolean(),
      secret: Type.Optional(Type.String({ description: 'whsec_…, shown this once' })),
    }),
    Nothing,
  ]),
  websocket: Nothing,
  rabbitmq: Nothing,
  nats: Nothing,
  sqs: Nothing,
  settings: SettingsSchema,
  qrcode: Type.Optional(CodeAnswer),
})

/** An instance in a list. */
export const InstanceRow = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  connectionStatus: Type.Enum(['open', 'connecting', 'close']),
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
      description: 'All messages; people, as its 10,000 newest messages tell, or fewer where many instances are listed',
    },
  ),
})
