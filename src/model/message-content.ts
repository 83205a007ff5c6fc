import type { MediaKind } from './media.js'

/** A contact card (spec 4.3). */
export interface ContactCard {
  name: { formatted_name: string; first_name: string; last_name: string | null }
  phones: { phone: string; type: string | null }[]
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

/** What an organization wants said (spec 4.3). Files are still at their addresses. */
export type MessageContent = ContentWith<{ url: string }>

/** The same, ready to leave: every file is known to the channel by an id of its own. */
export type ReadyContent = ContentWith<{ channelMediaId: string }>

type ContentWith<File> =
  | { type: 'text'; text: string }
  | { type: 'image' | 'video'; file: File; caption: string | null }
  | { type: 'audio'; file: File }
  | { type: 'document'; file: File; caption: string | null; filename: string | null }
  | { type: 'location'; latitude: number; longitude: number; name: string | null; address: string | null }
  | { type: 'contacts'; contacts: ContactCard[] }
  | { type: 'interactive'; interactive: InteractiveContent; header: InteractiveHeader<File> | null }
  | { type: 'reaction'; emoji: string }

/** What stands above the body of an interactive message: text, or a file of some kind. */
export type InteractiveHeader<File> =
  | { type: 'text'; text: string }
  | { type: Exclude<MediaKind, 'audio'>; file: File; filename: string | null }

/** The file that a message carries, with the kind that its type asks for, and the field of spec 4.3 that names it. */
export function fileOf(
  content: MessageContent,
): { kind: MediaKind; url: string; filename: string | null; field: string } | null {
  switch (content.type) {
    case 'image':
    case 'video':
    case 'audio':
      return { kind: content.type, url: content.file.url, filename: null, field: 'media_url' }
    case 'document':
      return { kind: 'document', url: content.file.url, filename: content.filename, field: 'media_url' }
    case 'interactive': {
      const { header } = content
      if (header === null || header.type === 'text') return null
      const { type: kind, file, filename } = header
      return { kind, url: file.url, filename, field: 'interactive.header_media.url' }
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
      return { ...content, file }
    case 'document':
      return { ...content, file, filename }
    case 'interactive': {
      const { header } = content
      const above = header === null || header.type === 'text' ? header : { ...header, file, filename }
      return { ...content, header: above }
    }
    default:
      return content
  }
}
