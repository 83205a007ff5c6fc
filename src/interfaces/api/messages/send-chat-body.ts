import { type Static, Type } from 'typebox'
import type { GivenNumber } from '../../../core/contacts/numbers.js'
import type { FileConversion } from '../../../core/media/convert.js'
import { named } from '../../../http/description/name-schemas.js'
import { sizeText } from '../../../lib/text/units.js'
import { MAX_FULL_NAME, userIdField } from '../../../model/contacts/contact-input.js'
import { MAX_NUMBER_INPUT } from '../../../model/contacts/written-number.js'
import { coordinates, Maybe, RequiredList, RequiredText } from '../../../model/fields.js'
import { type GivenFile, MEDIA_FIELDS, type MessageContent } from '../../../model/messages/content.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { MEDIA_RULES, type MediaKind } from '../../../model/messages/media.js'
import { Problem } from '../../../model/problem.js'
import { from } from './from-field.js'
import { requireGivenFile, uploadedId } from './given-file.js'
import { InteractiveBody, readInteractive } from './interactive-body.js'
import { filename } from './interactive-fields.js'
import { OneOf, textOrNull } from './one-of.js'
import { scheduledAt } from './scheduled-fields.js'

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
  create: Maybe(Type.Boolean({ description: 'Make the recipient a contact first, if there is none' })),
  full_name: Maybe(Type.String({ maxLength: MAX_FULL_NAME, description: 'The name of the contact that is made' })),
  context_message_id: Maybe(
    Type.String({ minLength: 1, maxLength: 512, description: 'The message to reply to, by either of its ids' }),
  ),
  memberId: Maybe(Type.String({ format: 'uuid', description: 'The member of the team who sends the message' })),
  from,
  instance: Maybe(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.instanceName,
      description: 'The instance that sends the message, instead of a business number.',
    }),
  ),
  scheduled_at: scheduledAt,
}

/** The file of a message: one of the two is required. */
const fileFields = (description: string) => ({
  media_url: Maybe(Type.String({ maxLength: LIMITS.url, description })),
  media_id: uploadedId('media_url'),
})
const file = (kind: MediaKind) => {
  const { names, maxBytes } = MEDIA_RULES[kind]
  return fileFields(`Publicly accessible URL of a file: ${names}, at most ${sizeText(maxBytes)}`)
}
const caption = Maybe(Type.String({ maxLength: LIMITS.caption }))

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
  Type.Object({ ...common, message_type: Type.Literal('image'), ...file('image'), caption }),
)
const Video = named(
  'VideoMessage',
  Type.Object({ ...common, message_type: Type.Literal('video'), ...file('video'), caption }),
)
const Audio = named(
  'AudioMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('audio'),
    ...file('audio'),
    voice: Maybe(
      Type.Boolean({
        description:
          'Send it as a voice note; it is converted if it is not OGG with Opus of one channel. By default it is a sound file.',
      }),
    ),
  }),
)
const Sticker = named(
  'StickerMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('sticker'),
    ...fileFields(
      'Publicly accessible URL of a picture; what is not WebP of at most 100 KB (animated: 500 KB) is converted',
    ),
  }),
)
const Document = named(
  'DocumentMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('document'),
    ...file('document'),
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

const Interactive = named(
  'InteractiveMessage',
  Type.Object({
    ...common,
    message_type: Type.Literal('interactive'),
    interactive: InteractiveBody,
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
  [Text, Image, Video, Audio, Document, Sticker, Location, Contacts, Interactive, Reaction],
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
      return { type: body.message_type, file: readFile(body), caption: textOrNull(body.caption) }
    case 'audio':
      return { type: 'audio', file: readFile(body), ...(body.voice && { voice: true }) }
    case 'sticker':
      return { type: 'sticker', file: readFile(body) }
    case 'document': {
      const { caption, filename } = body
      return { type: 'document', file: readFile(body), caption: textOrNull(caption), filename: textOrNull(filename) }
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

/** The name of the contact that is to be made for an unknown recipient; null: none is to be made. */
export function readNewContact({ create, full_name }: SendChatBody): { full_name: string | null } | null {
  return create ? { full_name: textOrNull(full_name) } : null
}

/** Whom a body names as the recipient. Throws missing_field. */
export function readTarget({ phone_number, to_user_id }: SendChatBody): GivenNumber {
  if (phone_number) return { name: 'phone_number', value: phone_number }
  if (to_user_id) return { name: 'to_user_id', value: to_user_id }
  throw new Problem('missing_field', 'phone_number is required and must not be empty; or give to_user_id instead')
}

/** The format that the file of a message is converted to; null: it is sent as it is. */
export function conversionOf(body: SendChatBody): FileConversion | null {
  if (body.message_type === 'sticker') return { kind: 'sticker' }
  return body.message_type === 'audio' && body.voice ? { kind: 'voice', encoding: true } : null
}

/** The id of the message that this one replies or reacts to, with the name of its field; null if there is none. */
export function readReplyTarget(body: SendChatBody): { id: string; field: string } | null {
  if (body.message_type === 'reaction') return { id: body.reaction.message_id, field: 'reaction.message_id' }
  const { context_message_id: id } = body
  return id === undefined || id === null ? null : { id, field: 'context_message_id' }
}

type GivenMedia = Pick<Static<typeof Image>, 'media_url' | 'media_id'>

function readFile({ media_url: url, media_id: id }: GivenMedia): GivenFile {
  return requireGivenFile({ url, id }, MEDIA_FIELDS, 'media_url is required for media messages')
}

function readCard({ name, phones }: Static<typeof Contacts>['contacts'][number]) {
  const { formatted_name, first_name, last_name } = name
  return {
    // The upstream requires one more part of the name.
    name: { formatted_name, first_name: first_name || formatted_name, last_name: textOrNull(last_name) },
    phones: phones.map(({ phone, type }) => ({ phone, type: textOrNull(type) })),
  }
}
