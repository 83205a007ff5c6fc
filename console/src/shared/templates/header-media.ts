/** The file above a template's text: the id of an upload, or an address. One of them is given. */
export interface HeaderMedia {
  headerMedia: string
  headerMediaId: string | null
}

export const NO_HEADER_MEDIA: HeaderMedia = { headerMedia: '', headerMediaId: null }

/** The fields of a request for the file. */
export function toHeaderMediaFields({ headerMedia, headerMediaId }: HeaderMedia): object {
  if (headerMediaId !== null) return { headerMediaId }
  return headerMedia.trim() === '' ? {} : { headerMedia: headerMedia.trim() }
}
