const MEGABYTE = 1_048_576

/**
 * What may be sent of each kind of file. The service is the judge (its model/messages/media, MEDIA_RULES); the numbers stand here as well so that
 * nobody waits for an upload that it refuses.
 */
export const FILE_RULES = {
  image: { maxBytes: 5 * MEGABYTE, types: ['image/jpeg', 'image/png'] },
  video: { maxBytes: 16 * MEGABYTE, types: ['video/mp4'] },
  // Recordings of this page are converted by the service.
  audio: {
    maxBytes: 16 * MEGABYTE,
    types: ['audio/mpeg', 'audio/mp3', 'audio/aac', 'audio/ogg', 'audio/webm', 'audio/mp4'],
  },
  document: {
    maxBytes: 100 * MEGABYTE,
    types: [
      'application/pdf',
      'application/msword',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.ms-excel',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.ms-powerpoint',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    ],
  },
} as const

export type FileKind = keyof typeof FILE_RULES

/** The longest text, caption, and so on (the service's model/messages/limits). */
export const TEXT_LIMITS = { text: 4_096, caption: 1_024, note: 4_000, body: 1_024, header: 60, footer: 60, title: 20 }

/** What the file picker offers: pictures of any kind, which are made JPEGs here, and what may be sent as it is. */
export const ACCEPTED = ['image/*', ...Object.values(FILE_RULES).flatMap(({ types }) => [...types])]

/** The kind as which a file of the type is sent; null where it cannot be sent. */
export function kindOf(file: File): FileKind | null {
  const type = file.type.split(';')[0] ?? ''
  const kinds = Object.keys(FILE_RULES) as FileKind[]
  return kinds.find((kind) => (FILE_RULES[kind].types as readonly string[]).includes(type)) ?? null
}
