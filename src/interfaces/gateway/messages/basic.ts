import { Type } from 'typebox'
import { readDigits } from '../../../model/contacts/written-number.js'
import { coordinates, OptionalText, RequiredList, RequiredText } from '../../../model/fields.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { common, MAX_ANY_TEXT, MessageId, mentioning, mentionsOf, Place, textOrNull } from './fields.js'
import { sendVerb } from './verb.js'

const MAX_POLL_NAME = 255
const MAX_POLL_OPTION = 100
const POLL_OPTIONS = { least: 2, most: 12 }
/** Maximum length of a template's components as JSON. */
const MAX_COMPONENTS = 32_768
/** A header, a body, and ten buttons, with room to spare. */
const MAX_COMPONENT_COUNT = 100
const MAX_TEMPLATE_NAME = 512

const ContactField = OptionalText(LIMITS.cardText)

/** Messages without files. */
export const basicVerbs = [
  sendVerb({
    names: ['sendText'],
    summary: 'Send a text',
    shape: { wrapper: 'textMessage', fields: { text: [] } },
    fileField: null,
    schema: Type.Object({
      ...common,
      ...mentioning,
      text: RequiredText(MAX_ANY_TEXT),
      linkPreview: Type.Optional(Type.Boolean({ description: 'Show a preview of a link' })),
    }),
    read: (body) => {
      if (body.text.trim() === '') throw new Problem('missing_field', 'text is required and must not be blank')
      const { text, linkPreview } = body
      return { content: { type: 'text', text, ...(linkPreview !== undefined && { linkPreview }), ...mentionsOf(body) } }
    },
  }),
  sendVerb({
    names: ['sendLocation'],
    summary: 'Send a location',
    shape: { wrapper: 'locationMessage', fields: { latitude: [], longitude: [], name: [], address: [] } },
    fileField: null,
    schema: Type.Object({
      ...common,
      ...coordinates(),
      name: Place,
      address: Place,
    }),
    read: ({ latitude, longitude, name, address }) => ({
      content: { type: 'location', latitude, longitude, name: textOrNull(name), address: textOrNull(address) },
    }),
  }),
  sendVerb({
    names: ['sendContact'],
    summary: 'Send contact cards',
    shape: { wrapper: 'contactMessage', fields: { contact: [] } },
    fileField: null,
    schema: Type.Object({
      ...common,
      contact: RequiredList(
        Type.Object({
          fullName: RequiredText(LIMITS.cardText),
          phoneNumber: OptionalText(LIMITS.cardText, 'The number as it is shown. By default wuid.'),
          wuid: OptionalText(LIMITS.cardText, 'The digits of the number at WhatsApp. By default from phoneNumber.'),
          organization: ContactField,
          email: ContactField,
          url: OptionalText(LIMITS.url),
        }),
        LIMITS.cards,
      ),
    }),
    read: ({ contact }) => ({ content: { type: 'contacts', contacts: contact.map(readCard) } }),
  }),
  sendVerb({
    names: ['sendReaction'],
    summary: 'React to a message; an empty reaction removes it',
    shape: { wrapper: 'reactionMessage', fields: { key: [], reaction: ['text'] } },
    fileField: null,
    schema: Type.Object({
      delay: common.delay,
      key: Type.Object(
        { id: MessageId, remoteJid: RequiredText(100, 'The chat'), fromMe: Type.Optional(Type.Boolean()) },
        { 'x-missing': true },
      ),
      reaction: Type.String({
        maxLength: LIMITS.emoji,
        description: 'One emoji, or an empty text',
        'x-missing': 'reaction is required: one emoji, or an empty text to take the reaction back',
      }),
    }),
    read: ({ key, reaction }) => {
      if (!isReaction(reaction)) throw new Problem('invalid_field', 'Reaction must be a single emoji or empty string')
      return {
        content: { type: 'reaction', emoji: reaction, toOwn: key.fromMe },
        recipient: { number: key.remoteJid, field: 'key.remoteJid' },
        replyTo: { id: key.id, field: 'key.id' },
      }
    },
  }),
  sendVerb({
    names: ['sendPoll'],
    summary: 'Send a poll',
    shape: { wrapper: 'pollMessage', fields: { name: [], selectableCount: [], values: [] } },
    fileField: null,
    schema: Type.Object({
      ...common,
      name: RequiredText(MAX_POLL_NAME, 'The question'),
      selectableCount: Type.Integer({
        minimum: 0,
        maximum: POLL_OPTIONS.most,
        'x-missing': true,
        description: 'How many options a person may choose. 0: all of them.',
      }),
      values: RequiredList(RequiredText(MAX_POLL_OPTION), POLL_OPTIONS.most, { minItems: POLL_OPTIONS.least }),
    }),
    read: ({ name, selectableCount, values }) => {
      checkPoll(values, selectableCount)
      return { content: { type: 'poll', name, options: values, selectableCount } }
    },
  }),
  sendVerb({
    names: ['sendTemplate'],
    summary: 'Send an approved template',
    shape: { wrapper: 'templateMessage', fields: { name: [], language: [], components: [] } },
    fileField: null,
    schema: Type.Object({
      ...common,
      name: RequiredText(MAX_TEMPLATE_NAME),
      language: RequiredText(LIMITS.cardText, 'For example pt_BR'),
      components: Type.Optional(
        Type.Array(Type.Record(Type.String(), Type.Unknown()), {
          maxItems: MAX_COMPONENT_COUNT,
          description: 'The parameters as the upstream takes them',
        }),
      ),
    }),
    read: ({ name, language, components = [] }) => {
      const { length } = JSON.stringify(components)
      if (length > MAX_COMPONENTS) {
        throw new Problem(
          'invalid_field',
          `components has ${length} characters as JSON; the maximum is ${MAX_COMPONENTS}`,
        )
      }
      return { content: { type: 'raw_template', name, language, components, text: name } }
    },
  }),
]

type GivenCard = { fullName: string; phoneNumber?: string; wuid?: string } & Partial<
  Record<'organization' | 'email' | 'url', string>
>

function readCard({ fullName, phoneNumber, wuid, organization, email, url }: GivenCard, index: number) {
  const phone = phoneNumber || wuid
  if (!phone) throw new Problem('missing_field', `contact[${index}].phoneNumber is required and must not be empty`)
  const digits = readDigits(wuid || phone)
  return {
    // The upstream requires a further part of the name.
    name: { formatted_name: fullName, first_name: fullName, last_name: null },
    phones: [{ phone, type: null, ...(digits !== null && { wa_id: digits }) }],
    organization: textOrNull(organization),
    email: textOrNull(email),
    url: textOrNull(url),
  }
}

function checkPoll(options: string[], selectableCount: number): void {
  if (new Set(options).size < options.length) {
    throw new Problem('invalid_field', 'values must not contain an option twice')
  }
  if (selectableCount <= options.length) return
  throw new Problem('invalid_field', `selectableCount must be at most ${options.length}, the number of values`)
}

const segmenter = new Intl.Segmenter()
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3/u

function isReaction(text: string): boolean {
  return text === '' || ([...segmenter.segment(text)].length === 1 && EMOJI.test(text))
}
