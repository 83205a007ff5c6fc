import type { JsonObject } from '../../lib/text/json.js'
import type { TemplateButton, TemplateFileKind } from '../templates/template.js'
import type { CatalogProduct, InteractiveContent, ProductSection } from './interactive.js'
import type { MediaKind, StoredMedia } from './media.js'

/** A contact card. */
export interface ContactCard {
  name: { formatted_name: string; first_name: string; last_name: string | null }
  phones: { phone: string; type: string | null; wa_id?: string }[]
  organization?: string | null
  email?: string | null
  url?: string | null
}

/** A value for a variable of a template. */
export interface FilledParameter {
  /** Null in a template with positional variables. */
  name: string | null
  text: string
}

/** A filled text of a template, with its values in the order that the upstream expects. */
export interface FilledText {
  text: string
  parameters: FilledParameter[]
}

/** A filled template, without the header's file. */
export interface FilledTemplate {
  name: string
  language: string
  header:
    | ({ type: 'text' } & FilledText)
    | { type: 'location'; latitude: string; longitude: string; name: string; address: string }
    | null
  body: FilledText
  footer: string | null
  /** All buttons; those that need a parameter have it. */
  buttons: (Pick<TemplateButton, 'index' | 'kind' | 'text'> & { parameter: string | null })[]
}

/** A filled card of a template's carousel. */
export interface FilledCard {
  template: FilledTemplate
  /** The file in its header; the upstream fetches it. */
  header: { type: 'image' | 'video'; url: string } | null
  /** The product in its header. */
  product: CatalogProduct | null
}

/** What a button of a template opens. */
export type FilledAction =
  | { kind: 'catalog'; index: number; thumbnailProductId: string | null }
  | { kind: 'products'; index: number; thumbnailProductId: string; sections: ProductSection[] }
  | { kind: 'flow'; index: number; token: string | null; data: JsonObject | null }

/** The parts of a template that are no values of variables. */
export interface FilledParts {
  headerProduct: CatalogProduct | null
  /** ISO 8601. */
  offerEndsAt: string | null
  buttons: FilledAction[]
  cards: FilledCard[]
}

/** A template as it is sent. */
export interface TemplateContent<File> {
  type: 'template'
  template: FilledTemplate
  /** The header's file. */
  header: { type: TemplateFileKind; file: File; filename: string | null } | null
  parts?: FilledParts
}

/** A file that a client names: by its URL, or by the id of its upload. */
export type GivenFile = { url: string } | { mediaId: string }

/** A file that a client names, or one that is stored under the id of its message. */
export type FetchableFile = GivenFile | { kept: StoredMedia }

/** A file to be sent: to be fetched, or received and in the spool. */
export type FileSource = FetchableFile | { path: string }

/** A template with parameters in the upstream's format; `text` shows in the conversation. */
export interface RawTemplate {
  type: 'raw_template'
  name: string
  language: string
  components: readonly Record<string, unknown>[]
  text: string
}

/** Mentions in a group: people by their JIDs, or all members. */
export interface Mentions {
  mentions?: readonly string[]
  mentionsEveryone?: boolean
}

/** The content of a message to be sent. Files are not fetched yet. */
export type MessageContent = ContentWith<FileSource>

/** The content when it is ready: files are uploaded to the channel. */
export type ReadyContent = ContentWith<{ channelMediaId: string }>

/** The content of a message whose files are given in this form. */
export type ContentWith<File> =
  | ({ type: 'text'; text: string; linkPreview?: boolean } & Mentions)
  | ({ type: 'image'; file: File; caption: string | null } & Mentions)
  /** `round`: a video note. */
  | ({ type: 'video'; file: File; caption: string | null; round?: boolean } & Mentions)
  /** `voice`: a voice note, in OGG/Opus. */
  | { type: 'audio'; file: File; voice?: boolean }
  | ({ type: 'document'; file: File; caption: string | null; filename: string | null } & Mentions)
  | { type: 'sticker'; file: File }
  | { type: 'location'; latitude: number; longitude: number; name: string | null; address: string | null }
  | { type: 'contacts'; contacts: ContactCard[] }
  | { type: 'interactive'; interactive: InteractiveContent; header: InteractiveHeader<File> | null }
  /** `toOwn`: whether the target is a message of the organization, if that is known. */
  | { type: 'reaction'; emoji: string; toOwn?: boolean }
  | { type: 'poll'; name: string; options: readonly string[]; selectableCount: number }
  | RawTemplate
  | TemplateContent<File>

/** The header of an interactive message: text or a file. */
export type InteractiveHeader<File> =
  | { type: 'text'; text: string }
  | { type: Exclude<MediaKind, 'audio' | 'sticker'>; file: File; filename: string | null }

export function hasFile(content: MessageContent | ReadyContent): boolean {
  return 'file' in content || ('header' in content && content.header !== null && 'file' in content.header)
}

/** The file of a message, with its type, and the field of Interface A that names it. */
export function fileOf(
  content: MessageContent,
): { kind: MediaKind; source: FileSource; filename: string | null; field: string } | null {
  switch (content.type) {
    case 'image':
    case 'video':
    case 'audio':
    case 'sticker':
      return { kind: content.type, source: content.file, filename: null, field: fieldOf(content.file, MEDIA_FIELDS) }
    case 'document':
      return {
        kind: 'document',
        source: content.file,
        filename: content.filename,
        field: fieldOf(content.file, MEDIA_FIELDS),
      }
    case 'interactive': {
      const { header } = content
      if (header === null || header.type === 'text') return null
      const { type: kind, file, filename } = header
      return { kind, source: file, filename, field: fieldOf(file, HEADER_FIELDS) }
    }
    case 'template': {
      const { header } = content
      if (header === null) return null
      const { type: kind, file, filename } = header
      return { kind, source: file, filename, field: fieldOf(file, TEMPLATE_FIELDS) }
    }
    default:
      return null
  }
}

/** The two fields of Interface A that name a file: by its URL, and by its id. */
export type FileFields = readonly [url: string, id: string]

/** Of messages that are a file. */
export const MEDIA_FIELDS: FileFields = ['media_url', 'media_id']
/** Of interactive messages. */
export const HEADER_FIELDS: FileFields = ['interactive.header_media.url', 'interactive.header_media.id']
/** Of templates and broadcasts. */
export const TEMPLATE_FIELDS: FileFields = ['headerMedia', 'headerMediaId']

/** The field that names the file. */
export function fieldOf(source: FileSource, [url, id]: FileFields): string {
  return 'mediaId' in source ? id : url
}

/** The message with its file in another form, such as that of the channel; `filename` is shown for a document. */
export function withFile<Before, After>(
  content: ContentWith<Before>,
  file: After,
  filename: string | null,
): ContentWith<After> {
  switch (content.type) {
    case 'image':
    case 'video':
    case 'audio':
    case 'sticker':
      return { ...content, file }
    case 'document':
      return { ...content, file, filename }
    case 'interactive': {
      const { header } = content
      const above = header === null || header.type === 'text' ? header : { ...header, file, filename }
      return { ...content, header: above }
    }
    case 'template': {
      const { header } = content
      return { ...content, header: header === null ? null : { ...header, file, filename } }
    }
    default:
      return content
  }
}
