import type { TemplateButton, TemplateFileKind } from '../templates/template.js'
import type { MediaKind } from './media.js'

/** A contact card (spec 4.3). */
export interface ContactCard {
  name: { formatted_name: string; first_name: string; last_name: string | null }
  phones: { phone: string; type: string | null; wa_id?: string }[]
  organization?: string | null
  email?: string | null
  url?: string | null
}

export interface Row {
  id: string
  title: string
  description: string | null
}

/** An interactive message without what may stand above its body. */
export type InteractiveContent = {
  body: string
  footer: string | null
} & (
  | { type: 'button'; buttons: { id: string; title: string }[] }
  | { type: 'list'; button: string; sections: { title: string | null; rows: Row[] }[] }
)

/** A value for a variable of a template. */
export interface FilledParameter {
  /** Null in a template whose variables have positions only. */
  name: string | null
  text: string
}

/** A text of a template, filled in, with what was filled in, in the order in which the upstream expects it. */
export interface FilledText {
  text: string
  parameters: FilledParameter[]
}

/** A template with its variables filled in, without a file that stands above its body. */
export interface FilledTemplate {
  name: string
  language: string
  header:
    | ({ type: 'text' } & FilledText)
    | { type: 'location'; latitude: string; longitude: string; name: string; address: string }
    | null
  body: FilledText
  footer: string | null
  /** All of them; those that need a parameter have it. */
  buttons: (Pick<TemplateButton, 'index' | 'kind' | 'text'> & { parameter: string | null })[]
}

/** A template as it is sent. */
export interface TemplateContent<File> {
  type: 'template'
  template: FilledTemplate
  /** The file that stands above its body. */
  header: { type: TemplateFileKind; file: File; filename: string | null } | null
}

/** A file that is to be sent: at an address, or received already and lying in the spool. */
export type GivenSource = { url: string } | { path: string }

/** A template with the parameters as the upstream takes them (spec 4.7); `text` shows in the conversation. */
export interface RawTemplate {
  type: 'raw_template'
  name: string
  language: string
  components: readonly Record<string, unknown>[]
  text: string
}

/** Whom a text names, in a group: people by their JIDs, or all of its members. */
export interface Mentions {
  mentions?: readonly string[]
  mentionsEveryone?: boolean
}

/** What an organization wants said (spec 4.3, 4.4, 4.7). Files are still where they were given. */
export type MessageContent = ContentWith<GivenSource>

/** The same, ready to leave: every file is known to the channel by an id of its own. */
export type ReadyContent = ContentWith<{ channelMediaId: string }>

type ContentWith<File> =
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
  /** `toOwn`: whether it is to a message of the organization's own, where that was said. */
  | { type: 'reaction'; emoji: string; toOwn?: boolean }
  | { type: 'poll'; name: string; options: readonly string[]; selectableCount: number }
  | RawTemplate
  | TemplateContent<File>

/** What stands above the body of an interactive message: text, or a file of some kind. */
export type InteractiveHeader<File> =
  | { type: 'text'; text: string }
  | { type: Exclude<MediaKind, 'audio' | 'sticker'>; file: File; filename: string | null }

/** Whether the message carries a file. */
export function hasFile(content: MessageContent | ReadyContent): boolean {
  return 'file' in content || ('header' in content && content.header !== null && 'file' in content.header)
}

/** The file that a message carries, with the kind that its type asks for, and the field of Interface A that names it (spec 4.3, 4.4). */
export function fileOf(
  content: MessageContent,
): { kind: MediaKind; source: GivenSource; filename: string | null; field: string } | null {
  switch (content.type) {
    case 'image':
    case 'video':
    case 'audio':
    case 'sticker':
      return { kind: content.type, source: content.file, filename: null, field: 'media_url' }
    case 'document':
      return { kind: 'document', source: content.file, filename: content.filename, field: 'media_url' }
    case 'interactive': {
      const { header } = content
      if (header === null || header.type === 'text') return null
      const { type: kind, file, filename } = header
      return { kind, source: file, filename, field: 'interactive.header_media.url' }
    }
    case 'template': {
      const { header } = content
      if (header === null) return null
      return { kind: header.type, source: header.file, filename: header.filename, field: 'headerMedia' }
    }
    default:
      return null
  }
}

/** The message with its file as the channel knows it; `filename` is shown for a document. */
export function withFile(
  content: MessageContent,
  file: { channelMediaId: string },
  filename: string | null,
): ReadyContent {
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
