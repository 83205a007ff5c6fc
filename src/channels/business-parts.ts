import type { InteractiveHeader } from '../model/messages/content.js'
import type { ProductSection } from '../model/messages/interactive.js'
import type * as wire from '../upstream/wire.js'

/** A file that the channel knows. */
export type UploadedFile = { channelMediaId: string }

/** The upstream's reference to an uploaded file. */
export function toReference({ file }: { file: UploadedFile }): wire.MediaReference {
  return { id: file.channelMediaId }
}

/** A header of an interactive message or a template that is a file. */
export type FileHeader = Exclude<InteractiveHeader<UploadedFile>, { type: 'text' }>

/** The file above a message, in the upstream's format. */
export function toFileHeader(header: FileHeader): Exclude<wire.InteractiveHeader, { type: 'text' }> {
  switch (header.type) {
    case 'image':
      return { type: 'image', image: toReference(header) }
    case 'video':
      return { type: 'video', video: toReference(header) }
    case 'document':
      return { type: 'document', document: { ...toReference(header), ...optional('filename', header.filename) } }
  }
}

/** Sections of products, in the upstream's format. */
export function toProductSections(
  sections: ProductSection[],
): Array<{ title?: string; product_items: Array<{ product_retailer_id: string }> }> {
  return sections.map(({ title, product_ids }) => ({
    ...optional('title', title),
    product_items: product_ids.map((id) => ({ product_retailer_id: id })),
  }))
}

/** A field, or none if its value is null: the upstream does not accept null. */
export function optional<Name extends string, Value>(name: Name, value: Value | null): Partial<Record<Name, Value>> {
  return (value === null ? {} : { [name]: value }) as Partial<Record<Name, Value>>
}
