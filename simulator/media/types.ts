/** The kinds of media. Messages with a file use the same names as types. */
export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

const kilobyte = 1_024
const megabyte = 1_024 * kilobyte

const office = 'application/vnd.openxmlformats-officedocument'

/** The accepted MIME types, in the order in which the upstream lists them in its error. */
const kindsByType: Record<string, MediaKind> = {
  'audio/aac': 'audio',
  'audio/mp4': 'audio',
  'audio/mpeg': 'audio',
  'audio/amr': 'audio',
  'audio/ogg': 'audio',
  'audio/opus': 'audio',
  'application/vnd.ms-powerpoint': 'document',
  'application/msword': 'document',
  [`${office}.wordprocessingml.document`]: 'document',
  [`${office}.presentationml.presentation`]: 'document',
  [`${office}.spreadsheetml.sheet`]: 'document',
  'application/pdf': 'document',
  'text/plain': 'document',
  'application/vnd.ms-excel': 'document',
  'image/jpeg': 'image',
  'image/png': 'image',
  'image/webp': 'sticker',
  'video/mp4': 'video',
  'video/3gpp': 'video',
}

/** Maximum sizes in bytes; a sticker that is not animated must be smaller. */
const sizeLimits: Record<MediaKind, number> = {
  audio: 16 * megabyte,
  document: 100 * megabyte,
  image: 5 * megabyte,
  video: 16 * megabyte,
  sticker: 500 * kilobyte,
}

export const acceptedTypes = Object.keys(kindsByType)

/** The kind of an accepted MIME type without parameters; null for other types. */
export function kindOf(mimeType: string): MediaKind | null {
  return Object.hasOwn(kindsByType, mimeType) ? (kindsByType[mimeType] ?? null) : null
}

export function sizeLimitOf(kind: MediaKind): number {
  return sizeLimits[kind]
}

export function isMediaKind(type: string): type is MediaKind {
  return Object.hasOwn(sizeLimits, type)
}
