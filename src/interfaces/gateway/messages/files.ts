import { Type } from 'typebox'
import { OptionalText, RequiredText } from '../../../model/fields.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { common, MAX_ANY_TEXT, mentioning, mentionsOf, textOrNull } from './fields.js'
import { type RequestFile, sendVerb } from './verb.js'

/** A file: its URL or its content. In a form, the part `file` replaces the field. */
const file = (what: string) =>
  Type.Optional(
    Type.String({
      description: `${what}: an http(s) address, Base64, or a data: URL. A form has it in the part \`file\`.`,
    }),
  )

const caption = OptionalText(MAX_ANY_TEXT)

/** Messages with a file: media, voice notes, round videos, stickers. */
export const fileVerbs = [
  sendVerb({
    names: ['sendMedia'],
    summary: 'Send an image, a video, a document or an audio file',
    shape: {
      wrapper: 'mediaMessage',
      fields: { mediatype: ['mediaType'], media: [], caption: [], fileName: [] },
    },
    fileField: 'media',
    schema: Type.Object({
      ...common,
      ...mentioning,
      mediatype: Type.Enum(['image', 'video', 'document', 'audio'], { 'x-missing': true }),
      media: file('The file'),
      caption,
      fileName: OptionalText(LIMITS.filename, 'The name of a document. Required with Base64.'),
    }),
    read: (body, { source, isBase64 }) => {
      const words = { caption: textOrNull(body.caption), ...mentionsOf(body) }
      switch (body.mediatype) {
        case 'image':
        case 'video':
          return { content: { type: body.mediatype, file: source, ...words } }
        case 'audio':
          return { content: { type: 'audio', file: source } }
        case 'document': {
          const name = textOrNull(body.fileName)
          if (name === null && isBase64) {
            throw new Problem('missing_field', 'For base64 the file name must be informed.')
          }
          return { content: { type: 'document', file: source, filename: name, ...words } }
        }
      }
    },
  }),
  sendVerb({
    names: ['sendWhatsAppAudio', 'sendAudio'],
    summary: 'Send a voice note',
    shape: { wrapper: 'audioMessage', fields: { audio: [], encoding: [] } },
    fileField: 'audio',
    schema: Type.Object({
      ...common,
      audio: file('The audio file'),
      encoding: Type.Optional(
        Type.Boolean({
          description:
            "Convert it to WhatsApp's format for voice notes (OGG with Opus). True: fail if that is not possible. False: send it as it is.",
        }),
      ),
    }),
    read: ({ encoding = null }, { source }) => ({
      content: { type: 'audio', file: source },
      conversion: { kind: 'voice', encoding },
    }),
  }),
  sendVerb({
    names: ['sendPtv'],
    summary: 'Send a round video note',
    shape: { wrapper: 'ptvMessage', fields: { video: [] } },
    fileField: 'video',
    schema: Type.Object({ ...common, video: file('The video') }),
    read: (_body, { source }) => ({ content: { type: 'video', file: source, caption: null, round: true } }),
  }),
  sendVerb({
    names: ['sendSticker'],
    summary: 'Send a sticker; images other than WebP are converted',
    shape: { wrapper: 'stickerMessage', fields: { sticker: ['image'], notConvertSticker: [] } },
    fileField: 'sticker',
    schema: Type.Object({
      ...common,
      sticker: file('The image'),
      notConvertSticker: Type.Optional(Type.Boolean({ description: 'Send it as it is' })),
    }),
    read: ({ notConvertSticker }, { source }) => ({
      content: { type: 'sticker', file: source },
      ...(notConvertSticker ? {} : { conversion: { kind: 'sticker' } }),
    }),
  }),
]

const HTTP_URL = /^https?:\/\//i

/** The file of a URL; null if the text is not a URL. Throws invalid_field. */
export function fileAtUrl(field: string, text: string): RequestFile | null {
  if (!HTTP_URL.test(text)) return null
  if (text.length > LIMITS.url) {
    throw new Problem('invalid_field', `${field} must have at most ${LIMITS.url} characters if it is a URL`)
  }
  return { source: { url: text }, isBase64: false }
}

/** A text that must be a URL. */
export const Address = RequiredText(LIMITS.url, 'An http(s) address')
