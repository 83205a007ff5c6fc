import { isJsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import type { MediaKind } from '../../media/types.js'
import { type ContentCheck, checkOptionalText, firstRefusal, isFilled, isLonger, type KindOfUpload } from './checks.js'

const { caption: maxCaptionLength } = UPSTREAM_LIMITS

const extraKeys: Record<MediaKind, string[]> = {
  image: ['caption'],
  video: ['caption'],
  audio: ['voice'],
  document: ['caption', 'filename'],
  sticker: [],
}

/** Returns the check of a message with one file. */
export function mediaCheck(kind: MediaKind): ContentCheck {
  return (body, kindOfUpload) => {
    const media = body[kind]
    if (!isJsonObject(media)) return refusals.missing(`${kind} is required`)
    return (
      checkReference(media, kind, kind, kindOfUpload) ??
      checkKeys(Object.keys(media), kind) ??
      checkCaption(media.caption, kind) ??
      checkOptionalText(media.filename, `${kind}: filename`) ??
      checkVoice(media.voice)
    )
  }
}

/**
 * Refuses a reference to a file of another kind, an `id` that the number did not upload, a `link` that is not a URL,
 * and both or neither of them. `name` is the upstream's name of the field.
 */
export function checkReference(
  media: unknown,
  kind: MediaKind,
  name: string,
  kindOfUpload: KindOfUpload,
): Refusal | null {
  if (!isJsonObject(media)) return refusals.missing(`${name} is required`)
  const { id, link } = media
  if (id === undefined && link === undefined) return refusals.missing(`${name}: id or link is required`)
  if (id !== undefined && link !== undefined) {
    return refusals.invalidParameter(`Param ${name} must have either id or link, not both.`)
  }
  if (id === undefined) return checkLink(link, name)
  if (!isFilled(id)) return refusals.invalidParameter(`Param ${name}['id'] must be a string that is not empty.`)
  const uploaded = kindOfUpload(id)
  if (uploaded === null) return refusals.mediaError(`${name}: this phone number uploaded no media with the id ${id}`)
  if (uploaded !== kind) return refusals.invalidValue(`${name}: the media ${id} is of kind ${uploaded}, not ${kind}`)
  return null
}

function checkLink(link: unknown, name: string): Refusal | null {
  const protocol = typeof link === 'string' && URL.canParse(link) ? new URL(link).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') return null
  return refusals.invalidParameter(`Param ${name}['link'] is not a valid URI.`)
}

function checkKeys(keys: string[], kind: MediaKind): Refusal | null {
  const allowed = ['id', 'link', ...extraKeys[kind]]
  return firstRefusal(keys, (key) =>
    allowed.includes(key) ? null : refusals.invalidParameter(`Unexpected key "${key}" on param "${kind}".`),
  )
}

function checkCaption(caption: unknown, kind: MediaKind): Refusal | null {
  if (caption === undefined) return null
  if (typeof caption !== 'string') return refusals.invalidParameter(`Param ${kind}['caption'] must be a string.`)
  if (!isLonger(caption, maxCaptionLength)) return null
  return refusals.invalidParameter(`Param ${kind}['caption'] must be at most ${maxCaptionLength} characters long.`)
}

function checkVoice(voice: unknown): Refusal | null {
  return voice === undefined || typeof voice === 'boolean'
    ? null
    : refusals.invalidValue('audio: voice must be a boolean')
}
