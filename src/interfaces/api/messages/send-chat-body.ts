import { type Static, type TObject, Type } from 'typebox'
import type { GivenNumber } from '../../../core/contacts/numbers.js'
import { named } from '../../../http/description/name-schemas.js'
import { sizeText } from '../../../lib/text/units.js'
import { userIdField } from '../../../model/contacts/contact-input.js'
import { MAX_NUMBER_INPUT } from '../../../model/contacts/written-number.js'
import { coordinates, Maybe, RequiredList, RequiredText } from '../../../model/fields.js'
import type { InteractiveContent, InteractiveHeader, MessageContent } from '../../../model/messages/content.js'
import { checkSections, LIMITS, refuseTwice } from '../../../model/messages/limits.js'
import { MEDIA_RULES, type MediaKind } from '../../../model/messages/media.js'
import { Problem } from '../../../model/problem.js'

const DEFAULT_EMOJI = '👍'

const common = {
  phone_number: Maybe(
    Type.String({
      minLength: 1,
      maxLength: MAX_NUMBER_INPUT,
      description: 'Recipient, with country code, in any form. Required without `to_user_id`.',
    }),
  ),
  to_user_id: userIdField("WhatsApp's user id, or parent user id, of the recipient. `phone_number` goes before it."),
  context_message_id: Maybe(
    Type.String({ minLength: 1, maxLength: 512, description: 'The message to reply to, by either of its ids' }),
  ),
  memberId: Maybe(Type.String({ format: 'uuid', description: 'The member of the team who sends the message' })),
  instance: Maybe(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.instanceName,
      description: "The instance that sends the message. By default the organization's own number.",
    }),
  ),
}

const mediaUrl = (kind: MediaKind) => {
  const { names, maxBytes } = MEDIA_RULES[kind]
  const description = `Publicly accessible URL of a file: ${names}, at most ${sizeText(maxBytes)}`
  return RequiredText(LIMITS.url, description, 'media_url is required for media messages')
}
const caption = Maybe(Type.String({ maxLength: LIMITS.caption }))
const filename = Maybe(Type.String({ maxLength: LIMITS.filename, description: 'The name that is shown' }))

const Text = named(
  'TextMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('text'),
    text: RequiredText(LIMITS.text, '', 'text is required for text messages'),
  }),
)

const Image = named(
  'ImageMessage',
  Type.Object({ ...common, message_type: Type.Literal('image'), media_url: mediaUrl('image'), caption }),
)
const Video = named(
  'VideoMessage',
  Type.Object({ ...common, message_type: Type.Literal('video'), media_url: mediaUrl('video'), caption }),
)
const Audio = named(
  'AudioMessage',
  Type.Object({ ...common, message_type: Type.Literal('audio'), media_url: mediaUrl('audio') }),
)
const Document = named(
  'DocumentMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('document'),
    media_url: mediaUrl('document'),
    filename,
    caption,
  }),
)

const COORDINATES = 'location.latitude and location.longitude are required for location messages'

const Location = named(
  'LocationMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('location'),
    location: Type.Object(
      {
        ...coordinates(COORDINATES),
        name: Maybe(Type.String({ maxLength: LIMITS.place })),
        address: Maybe(Type.String({ maxLength: LIMITS.place })),
      },
      { 'x-missing': COORDINATES },
    ),
  }),
)

const Contacts = named(
  'ContactsMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('contacts'),
    contacts: RequiredList(
      Type.Object({
        name: Type.Object(
          {
            formatted_name: RequiredText(LIMITS.cardText),
            first_name: Maybe(Type.String({ maxLength: LIMITS.cardText, description: 'By default formatted_name' })),
            last_name: Maybe(Type.String({ maxLength: LIMITS.cardText })),
          },
          { 'x-missing': true },
        ),
        phones: RequiredList(
          Type.Object({
            phone: RequiredText(LIMITS.cardText),
            type: Maybe(Type.String({ maxLength: LIMITS.cardText })),
          }),
          LIMITS.cards,
        ),
      }),
      LIMITS.cards,
      { missing: 'contacts is required for contacts messages' },
    ),
  }),
)

const frame = {
  body: RequiredText(LIMITS.body),
  header: Maybe(Type.String({ maxLength: LIMITS.header })),
  footer: Maybe(Type.String({ maxLength: LIMITS.footer })),
}

const Buttons = named(
  'Buttons',
  Type.Object({
    ...frame,
    type: Type.Literal('button'),
    header_media: Maybe(
      Type.Object(
        {
          type: Type.Enum(['image', 'video', 'document'], { 'x-missing': true }),
          url: RequiredText(LIMITS.url),
          filename,
        },
        { description: 'A file above the body, instead of header' },
      ),
    ),
    buttons: RequiredList(
      Type.Object({ id: RequiredText(LIMITS.buttonId), title: RequiredText(LIMITS.title) }),
      LIMITS.buttons,
    ),
  }),
)

const List = named(
  'List',
  Type.Object({
    ...frame,
    type: Type.Literal('list'),
    button: RequiredText(LIMITS.title),
    sections: RequiredList(
      Type.Object({
        title: Maybe(
          Type.String({ maxLength: LIMITS.sectionTitle, description: 'Required in a list of several sections' }),
        ),
        rows: RequiredList(
          Type.Object({
            id: RequiredText(LIMITS.rowId),
            title: RequiredText(LIMITS.rowTitle),
            description: Maybe(Type.String({ maxLength: LIMITS.description })),
          }),
          LIMITS.rows,
        ),
      }),
      LIMITS.sections,
    ),
  }),
)

/** One of several named objects. The property `propertyName` selects the object whose checks and errors apply. */
const OneOf = <Schemas extends TObject[]>(propertyName: string, schemas: Schemas, missing: string | true) =>
  Type.Unsafe<Static<Schemas[number]>>({
    type: 'object',
    required: [propertyName],
    discriminator: { propertyName },
    oneOf: schemas,
    'x-missing': missing,
  })

const Interactive = named(
  'InteractiveMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('interactive'),
    interactive: OneOf('type', [Buttons, List], 'interactive is required for interactive messages'),
  }),
)

const REACTION_TARGET = 'reaction.message_id is required for reaction messages'

const Reaction = named(
  'ReactionMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('reaction'),
    reaction: Type.Object(
      {
        message_id: RequiredText(512, 'A message of the conversation, by either of its ids', REACTION_TARGET),
        emoji: Maybe(
          Type.Union([Type.String({ maxLength: LIMITS.emoji, default: DEFAULT_EMOJI }), Type.Literal('')], {
            description: 'An empty text removes the reaction',
          }),
        ),
      },
      { 'x-missing': REACTION_TARGET },
    ),
  }),
)

/** The body of `POST /send-chat`: the common fields, and those of the message type. */
export const SendChatBody = OneOf(
  'message_type',
  [Text, Image, Video, Audio, Document, Location, Contacts, Interactive, Reaction],
  true,
)

export type SendChatBody = Static<typeof SendChatBody>

/** The content of a validated body. Throws missing_field and invalid_field for rules that a schema cannot express. */
export function readContent(body: SendChatBody): MessageContent {
  switch (body.message_type) {
    case 'text':
      return { type: 'text', text: body.text }
    case 'image':
    case 'video':
      return { type: body.message_type, file: { url: body.media_url }, caption: textOrNull(body.caption) }
    case 'audio':
      return { type: 'audio', file: { url: body.media_url } }
    case 'document': {
      const { media_url: url, caption, filename } = body
      return { type: 'document', file: { url }, caption: textOrNull(caption), filename: textOrNull(filename) }
    }
    case 'location': {
      const { latitude, longitude, name, address } = body.location
      return { type: 'location', latitude, longitude, name: textOrNull(name), address: textOrNull(address) }
    }
    case 'contacts':
      return { type: 'contacts', contacts: body.contacts.map(readCard) }
    case 'interactive':
      return { type: 'interactive', ...readInteractive(body.interactive) }
    case 'reaction':
      return { type: 'reaction', emoji: body.reaction.emoji ?? DEFAULT_EMOJI }
  }
}

/** Whom a body names as the recipient. Throws missing_field. */
export function readTarget({ phone_number, to_user_id }: SendChatBody): GivenNumber {
  if (phone_number) return { name: 'phone_number', value: phone_number }
  if (to_user_id) return { name: 'to_user_id', value: to_user_id }
  throw new Problem('missing_field', 'phone_number is required and must not be empty; or give to_user_id instead')
}

/** The id of the message that this one replies or reacts to, with the name of its field; null if there is none. */
export function readReplyTarget(body: SendChatBody): { id: string; field: string } | null {
  if (body.message_type === 'reaction') return { id: body.reaction.message_id, field: 'reaction.message_id' }
  const { context_message_id: id } = body
  return id === undefined || id === null ? null : { id, field: 'context_message_id' }
}

/** An absent field, null and an empty text all mean that an optional text is not given. */
function textOrNull(text: string | null | undefined): string | null {
  return text || null
}

function readCard({ name, phones }: Static<typeof Contacts>['contacts'][number]) {
  const { formatted_name, first_name, last_name } = name
  return {
    // The upstream requires one more part of the name.
    name: { formatted_name, first_name: first_name || formatted_name, last_name: textOrNull(last_name) },
    phones: phones.map(({ phone, type }) => ({ phone, type: textOrNull(type) })),
  }
}

function readInteractive(given: Static<typeof Interactive>['interactive']): {
  interactive: InteractiveContent
  header: InteractiveHeader<{ url: string }> | null
} {
  const { body } = given
  const footer = textOrNull(given.footer)
  const text = textOrNull(given.header)
  const textHeader = text === null ? null : { type: 'text' as const, text }
  if (given.type === 'button') {
    refuseTwice(given.buttons, (index) => `interactive.buttons[${index}].id`)
    const buttons = given.buttons.map(({ id, title }) => ({ id, title }))
    return { interactive: { type: 'button', body, footer, buttons }, header: readHeader(given, textHeader) }
  }
  checkSections(given.sections, 'interactive.sections', 'id')
  const sections = given.sections.map(({ title, rows }) => ({
    title: textOrNull(title),
    rows: rows.map((row) => ({ id: row.id, title: row.title, description: textOrNull(row.description) })),
  }))
  return { interactive: { type: 'list', body, footer, button: given.button, sections }, header: textHeader }
}

function readHeader(
  { header_media: media }: Static<typeof Buttons>,
  textHeader: { type: 'text'; text: string } | null,
): InteractiveHeader<{ url: string }> | null {
  if (!media) return textHeader
  if (textHeader) {
    throw new Problem('invalid_field', 'interactive.header and interactive.header_media exclude each other: give one')
  }
  return { type: media.type, file: { url: media.url }, filename: textOrNull(media.filename) }
}
