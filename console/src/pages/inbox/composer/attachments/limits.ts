const MEGABYTE = 1_048_576

/**
 * Limits of each kind of file, as in the service (MEDIA_RULES in src/model/messages/media): files that it would refuse
 * are not uploaded.
 */
export const FILE_RULES = {
  image: { maxBytes: 5 * MEGABYTE, types: ['image/jpeg', 'image/png'] },
  video: { maxBytes: 16 * MEGABYTE, types: ['video/mp4'] },
  // The service converts recordings of this page.
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

/** What can be sent as a sticker without a conversion. */
export const STICKER_RULE = { maxBytes: 500 * 1_024, type: 'image/webp' }

/** Maximum lengths of texts, as in src/model/messages/limits and the fields of POST /send-chat. */
export const TEXT_LIMITS = {
  text: 4_096,
  caption: 1_024,
  note: 4_000,
  body: 1_024,
  header: 60,
  footer: 60,
  title: 20,
  url: 4_096,
  country: 2,
  flowTitle: 30,
  flowId: 200,
  productId: 100,
  sections: 10,
  sectionTitle: 24,
  rows: 10,
  rowTitle: 24,
  description: 72,
  products: 30,
  leastCards: 2,
  mostCards: 10,
  cardBody: 160,
  lineBreaks: 2,
}

/** Types for the file picker: all pictures, since others are converted to JPEG, and what can be sent unchanged. */
export const ACCEPTED = ['image/*', ...Object.values(FILE_RULES).flatMap(({ types }) => [...types])]

/** The kind of message for a file type. Null if the type is not supported. */
export function kindOf(file: File): FileKind | null {
  const type = file.type.split(';')[0] ?? ''
  const kinds = Object.keys(FILE_RULES) as FileKind[]
  return kinds.find((kind) => (FILE_RULES[kind].types as readonly string[]).includes(type)) ?? null
}
