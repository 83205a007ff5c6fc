import { type Static, type TSchema, Type } from 'typebox'
import { Nullable } from '../../fields.js'
import { MAX_ITEMS, MAX_TEXT } from './read.js'

/** Null: it is not known. */
const text = (description = '') => Nullable(Type.String(description === '' ? {} : { description }))
const number = Nullable(Type.Number())
const moment = (description: string) => Type.String({ format: 'date-time', description })
/** A list; longer ones are cut. */
const listOf = <Item extends TSchema>(item: Item) => Type.Array(item, { maxItems: MAX_ITEMS })

/** The ad or post that a contact came from. */
export const Referral = Type.Object(
  {
    source_url: text(),
    source_id: text('The id of the ad or post'),
    source_type: text('`ad`, `post`'),
    headline: text(),
    body: text(),
    media_type: text('`image`, `video`'),
    image_url: text(),
    video_url: text(),
    thumbnail_url: text(),
    ctwa_clid: text('The id of the click, for reports of conversions. Null for ads in the status.'),
    welcome_message: text('What the ad greeted with'),
    ref: text(),
  },
  { title: 'Referral', description: 'The ad or post that the contact came from' },
)

const ContentError = Type.Object(
  {
    code: Nullable(Type.Union([Type.Number(), Type.String()])),
    title: text(),
    details: text(),
  },
  { title: 'ContentError' },
)

/** What a message of any kind may have. */
const common = {
  referral: Type.Optional(Referral),
  referred_product: Type.Optional(
    Type.Object(
      { catalog_id: text(), product_id: text() },
      { description: 'The product that was open when the contact wrote' },
    ),
  ),
  forwarded: Type.Optional(Type.Enum(['once', 'often'], { description: '`often`: five times or more' })),
  edited_at: Type.Optional(moment('Its author changed it. The text is the new one.')),
  deleted_at: Type.Optional(moment('Its author deleted it. Text and content are empty.')),
  errors: Type.Optional(listOf(ContentError)),
  truncated: Type.Optional(
    Type.Literal(true, {
      description: `A list was longer than ${MAX_ITEMS} items, and is shown without the others; or a filled form was longer than 64 KB or nested too deep, and is not shown`,
    }),
  ),
}

/** A member of a group, or who left or asked to join. */
export const GroupPersonSchema = Type.Object(
  { name: text(), phone_number: text('With +'), user_id: text(), username: text() },
  { title: 'GroupPerson' },
)

function kind<const Kind extends string, Fields extends Record<string, TSchema>>(
  type: Kind,
  description: string,
  fields: Fields,
) {
  const words = type.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return Type.Object(
    { type: Type.Literal(type), ...fields, ...common },
    { title: `${words.join('')}Content`, description },
  )
}

const mimeType = text('As its sender declared it')
const caption = text()

const choices = listOf(Type.Object({ id: text(), title: text() }))

const cardFile = Nullable(Type.Object({ type: text('`image`, `video`'), url: text() }))

const product = { catalog_id: text(), product_id: text() }

/** Products under a title. */
const ProductSection = Type.Object({
  title: text(),
  product_ids: Type.Array(Type.String(), { maxItems: MAX_ITEMS }),
})

/** The values of a template's variables. */
const parameters = listOf(
  Type.Object({
    component: text('`header`, `body`, `button`'),
    index: Nullable(Type.Integer({ description: "The button's place, from 0; null for other components" })),
    name: text('Null in templates with numbered variables'),
    text: text(),
  }),
)

/** What the first screen of a form shows. */
const formData = Nullable(Type.Object({}, { additionalProperties: true, description: 'What the first screen shows' }))

/** A card of a sent template. */
const TemplateCard = Type.Object({
  header_media: cardFile,
  product: Nullable(Type.Object(product)),
  body: text(),
  buttons: listOf(Type.Object({ type: text(), text: text() })),
  parameters,
})

/** A card of a sent carousel. */
const CarouselCard = Type.Union([
  Type.Object({
    type: Type.Literal('cta_url'),
    header_media: cardFile,
    body: text(),
    display_text: text(),
    url: text(),
  }),
  Type.Object({ type: Type.Literal('button'), header_media: cardFile, body: text(), buttons: choices }),
  Type.Object({ type: Type.Literal('product'), ...product }),
])

/** Not a record of TypeBox: the bodies of events would describe it by a pattern, and the answers of routes would not. */
const addressFields = (description: string) =>
  Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' }, description })

/** The texts of a sent interactive message, beside what can be chosen. */
const frame = {
  header: text('Null if there is none, or a file'),
  header_media: Type.Optional(
    Type.Object(
      { type: text('`image`, `video`, `document`'), filename: text(), mime_type: text() },
      { description: 'The file above the text' },
    ),
  ),
  body: text(),
  footer: text(),
}

const Phone = Type.Object({ phone: text(), type: text(), wa_id: text('The number as WhatsApp knows it') })

const Card = Type.Object(
  {
    name: text('As it is shown'),
    first_name: text(),
    last_name: text(),
    phones: listOf(Phone),
    emails: listOf(Type.Object({ email: text(), type: text() })),
    urls: listOf(Type.Object({ url: text(), type: text() })),
    addresses: listOf(
      Type.Object({
        street: text(),
        city: text(),
        state: text(),
        zip: text(),
        country: text(),
        country_code: text(),
        type: text(),
      }),
    ),
    organization: Type.Object({ company: text(), department: text(), title: text() }),
    birthday: text(),
    vcard: text('Null if it is longer than other texts may be'),
  },
  { title: 'ContactCard' },
)

const Person = Type.Object({ phone_number: text(), user_id: text() })

/** The kinds of content, by their `type`. */
export const KINDS = {
  text: kind('text', 'A text that has something beside it', {
    mentions: Type.Optional(Type.Array(Type.String(), { maxItems: MAX_ITEMS, description: 'People, in groups' })),
  }),
  image: kind('image', 'A picture', { caption, mime_type: mimeType }),
  video: kind('video', 'A video', {
    caption,
    mime_type: mimeType,
    animated: Type.Boolean({ description: 'Plays in a loop without sound, as a GIF' }),
  }),
  audio: kind('audio', 'A recording', {
    voice: Type.Boolean({ description: 'True for a voice note, false for a file' }),
    mime_type: mimeType,
  }),
  document: kind('document', 'A file', { caption, filename: text(), mime_type: mimeType }),
  sticker: kind('sticker', 'A sticker', { animated: Nullable(Type.Boolean()), mime_type: mimeType }),
  location: kind('location', 'A location', {
    latitude: number,
    longitude: number,
    name: text(),
    address: text(),
    url: text(),
  }),
  contacts: kind('contacts', 'Contact cards', {
    origin: text('`contact_request`: the contact answered the request for a number; `other`'),
    contacts: listOf(Card),
  }),
  button_reply: kind('button_reply', 'The chosen button of an interactive message', {
    id: text('As it was sent'),
    title: text(),
  }),
  list_reply: kind('list_reply', 'The chosen row of a list', {
    id: text('As it was sent'),
    title: text(),
    description: text(),
  }),
  flow: kind('flow', 'A filled form', {
    name: text(),
    body: text(),
    flow: Type.Unknown({
      description: 'What was filled in, as it was received; any JSON. Null if it is not JSON, or too long or too deep.',
    }),
    flow_text: Type.Optional(Type.String({ description: 'The answer, if it is not JSON, or too long or too deep' })),
    token: text('The `flow_token` that the form was sent with'),
  }),
  address: kind('address', 'A filled form for an address', {
    body: text(),
    values: addressFields('Each field of the address'),
    saved_address_id: text(),
  }),
  call_permission: kind('call_permission', 'Whether the contact may be called', {
    response: text('`accept`, `reject`'),
    is_permanent: Nullable(Type.Boolean()),
    expires_at: Nullable(Type.String({ format: 'date-time' })),
    source: text('`user_action`, `automatic`'),
  }),
  product: kind('product', 'A product of the catalogue', {
    catalog_id: text(),
    product_id: text(),
    ...{ title: Type.Optional(text('These five are of linked devices only')), description: Type.Optional(text()) },
    ...{ price: Type.Optional(number), currency: Type.Optional(text()), url: Type.Optional(text()) },
  }),
  buttons: kind('buttons', 'A sent message with buttons (`interactive.type` is `button`)', {
    ...frame,
    buttons: choices,
  }),
  list: kind('list', 'A sent message with a list', {
    ...frame,
    button: text('What opens the list'),
    sections: listOf(
      Type.Object({
        title: text(),
        rows: listOf(Type.Object({ id: text(), title: text(), description: text() })),
      }),
    ),
  }),
  cta_url: kind('cta_url', 'A sent message with a button that opens an address', {
    ...frame,
    display_text: text("The button's text"),
    url: text(),
  }),
  flow_offer: kind('flow_offer', 'A sent form (`interactive.type` is `flow`)', {
    ...frame,
    flow_id: text(),
    flow_name: text(),
    flow_cta: text("The button's text"),
    flow_token: text('Comes back as `token` of the answer'),
    mode: text('`draft`, `published`'),
    flow_action: text('`navigate`, `data_exchange`'),
    screen: text('The first screen'),
    data: formData,
  }),
  location_request: kind('location_request', 'A sent request for the location', frame),
  contact_request: kind('contact_request', 'A sent request for the number', frame),
  address_request: kind('address_request', 'A sent form for an address (`interactive.type` is `address`)', {
    ...frame,
    country: text(),
    values: addressFields('What is filled in already'),
    saved_addresses: listOf(Type.Object({ id: text(), value: addressFields('Each field of the address') })),
  }),
  product_offer: kind('product_offer', 'A sent product (`interactive.type` is `product`)', {
    ...frame,
    catalog_id: text(),
    product_id: text(),
  }),
  product_list: kind('product_list', 'Sent products of one catalogue', {
    ...frame,
    catalog_id: text(),
    sections: listOf(ProductSection),
  }),
  catalog: kind('catalog', 'The sent catalogue', { ...frame, thumbnail_product_id: text() }),
  carousel: kind('carousel', 'Sent cards to swipe through', { ...frame, cards: listOf(CarouselCard) }),
  button: kind('button', 'The pressed button of a template', {
    payload: text('As it was sent with the template; by default the title'),
    title: text(),
  }),
  order: kind('order', 'An order', {
    catalog_id: text(),
    text: text(),
    items: listOf(
      Type.Object({
        product_id: text(),
        quantity: number,
        price: Nullable(Type.Number({ description: 'Of one' })),
        currency: text(),
      }),
    ),
    total: Type.Optional(Type.Number({ description: 'Only if all items have a price in the same currency' })),
    ...{ title: Type.Optional(text('These three are of linked devices only, whose orders tell no items')) },
    ...{ item_count: Type.Optional(number), currency: Type.Optional(text()) },
  }),
  reaction: kind('reaction', 'A reaction (in events)', {
    emoji: text('Null: it was removed'),
    message_id: text("The upstream's id of the message that it is on"),
  }),
  poll: kind('poll', 'A poll (of linked devices)', {
    name: text(),
    options: Type.Array(Type.String(), { maxItems: MAX_ITEMS }),
    selectable_count: Nullable(Type.Integer({ description: '0: any number of options' })),
  }),
  event: kind('event', 'An invitation to an event (of linked devices)', {
    name: text(),
    description: text(),
    location: Nullable(Type.Object({ latitude: number, longitude: number, name: text(), address: text() })),
    join_link: text('Of a call'),
    starts_at: Nullable(moment('When it begins')),
    ends_at: Nullable(moment('When it ends')),
    is_canceled: Type.Boolean(),
  }),
  group_invite: kind('group_invite', 'An invitation to a group (of linked devices)', {
    group_id: text("The group's JID"),
    group_name: text(),
    caption: text(),
    code: text('With which the person who got it can join'),
    expires_at: Nullable(moment('Until when it is valid')),
  }),
  template: kind('template', 'A sent template, filled', {
    name: text(),
    language: text(),
    header: text(),
    location: Nullable(Type.Object({ latitude: number, longitude: number, name: text(), address: text() })),
    filename: text(),
    body: text(),
    footer: text(),
    buttons: listOf(Type.Object({ type: text(), text: text() })),
    parameters,
    product: Type.Optional(Type.Object(product, { description: 'The product in the header' })),
    offer_ends_at: Type.Optional(moment('When the offer of a limited time ends')),
    sections: Type.Optional(listOf(ProductSection)),
    thumbnail_product_id: Type.Optional(text('The product whose picture is shown')),
    flow: Type.Optional(
      Type.Object({ token: text('Comes back as `token` of the answer'), data: formData }, { description: 'A form' }),
    ),
    cards: Type.Optional(listOf(TemplateCard)),
  }),
  system: kind('system', 'A change of the contact, as WhatsApp reports it', {
    event: text("`number_changed`, `user_id_changed`, `identity_changed`, or WhatsApp's own word"),
    previous: Person,
    current: Person,
  }),
  call: kind('call', 'A call', {
    direction: text('`inbound`, `outbound`'),
    outcome: text('`missed`, `answered`, `rejected`, `failed`'),
    seconds: number,
  }),
  handover: kind('handover', "The conversation passed from or to WhatsApp's own agent, or another app", {
    holder: text('Who answers from now on: `us`, `other`'),
    previous_role: text("In WhatsApp's words, such as `ai_agent`, `escalation`"),
    new_role: text(),
    note: text('What the one who handed it over says'),
    summary: text('What was said before, as a model of WhatsApp summed it up'),
  }),
  group: kind('group', 'A change of the group', {
    event: text(
      '`created`, `deleted`, `renamed`, `described`, `picture_changed`, `suspended`, `resumed`, `joined`, `left`, `join_requested`, `join_request_revoked`, `promoted`, `demoted`',
    ),
    subject: text('The new name'),
    description: text('The new description'),
    people: listOf(GroupPersonSchema),
    by: text('Who caused it: `business`, `participant`; null if it is not known'),
  }),
  request_welcome: kind('request_welcome', 'The contact opened the conversation, and wrote nothing yet', {}),
  unsupported: kind('unsupported', 'A message that WhatsApp does not pass on. `errors` says why.', {
    kind: text('What was sent, such as `poll_creation`; null if it is not known'),
  }),
  other: kind('other', 'A kind that this version does not know', {
    name: text("WhatsApp's name of the kind"),
    raw: Type.Unknown({
      description:
        'As it was received, any JSON, without ids, addresses and hashes of files. Null if it is longer than 16 KB, or nested too deep.',
    }),
  }),
}

/** The content of one kind. */
export type ContentOf<Kind extends keyof typeof KINDS> = Static<(typeof KINDS)[Kind]>

/** What a message holds beside its text, as interfaces and events show it. */
export type ShownContent = { [Kind in keyof typeof KINDS]: ContentOf<Kind> }[keyof typeof KINDS]

/** What messages of all kinds may have. */
export type CommonContent = Omit<ContentOf<'request_welcome'>, 'type'>

/** Any kind of content; `type` says which. */
const AnyContent = Type.Unsafe<ShownContent>({
  title: 'MessageContent',
  type: 'object',
  description: `What the message holds beside its text, by \`type\`. It is the \`message_type\`, but for \`interactive\` what was chosen or offered, for \`voice\` \`audio\`, for \`unknown\` \`unsupported\`, and for kinds that this version does not know \`other\`. Texts are at most ${MAX_TEXT} characters long; longer ones are cut. Only \`flow\`, \`raw\` and \`data\` are shown whole.`,
  discriminator: { propertyName: 'type' },
  oneOf: Object.values(KINDS),
})

/** The content of a message; null for a plain text. */
export const ContentSchema = Nullable(AnyContent)
