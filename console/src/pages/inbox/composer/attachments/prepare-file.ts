import { newKey } from '../../../../shared/new-key.js'
import { FILE_RULES, type FileKind, kindOf, STICKER_RULE } from './limits.js'

/** A file that can be sent. */
export interface Attachment {
  key: string
  file: File
  kind: FileKind
  /** Object URL of the preview; to be revoked. */
  url: string
  /** Whether a sound is sent as a voice note. */
  isVoice: boolean
  /** The chosen file, if it can be sent as a sticker instead. */
  sticker: File | null
  isSticker: boolean
}

/** Why a file cannot be sent. */
export type FileProblem = { reason: 'type' } | { reason: 'size'; maxBytes: number } | { reason: 'empty' }

// Maximum side length of a picture that is scaled down: more than any phone shows.
const MAX_SIDE = 2_560
const QUALITY = 0.88

/** Prepares a file for sending: pictures that are too large or not supported become JPEGs. */
export async function prepareFile(file: File, isRecorded = false): Promise<Attachment | FileProblem> {
  if (file.size === 0) return { reason: 'empty' }
  const ready = needsConversion(file) ? await toJpeg(file) : file
  const kind = ready && kindOf(ready)
  if (!kind) return { reason: 'type' }
  const { maxBytes } = FILE_RULES[kind]
  if (ready.size > maxBytes) return { reason: 'size', maxBytes }
  const sticker = file.type === STICKER_RULE.type && file.size <= STICKER_RULE.maxBytes ? file : null
  return {
    key: newKey(),
    file: ready,
    kind,
    url: URL.createObjectURL(ready),
    // Voice notes that were saved from WhatsApp are OGG.
    isVoice: isRecorded || ready.type.startsWith('audio/ogg'),
    sticker,
    isSticker: false,
  }
}

function needsConversion(file: File): boolean {
  const kind = kindOf(file)
  return file.type.startsWith('image/') && (kind === null || file.size > FILE_RULES.image.maxBytes)
}

/** Null if the browser cannot decode the picture. */
async function toJpeg(file: File): Promise<File | null> {
  try {
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height))
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale))
    const drawing = canvas.getContext('2d')
    if (!drawing) return null
    // Transparent pixels would become black.
    drawing.fillStyle = '#fff'
    drawing.fillRect(0, 0, canvas.width, canvas.height)
    drawing.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY })
    return new File([blob], file.name.replace(/\.[^.]+$/, '.jpg'), { type: 'image/jpeg' })
  } catch {
    return null
  }
}
