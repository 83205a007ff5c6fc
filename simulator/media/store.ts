import { randomInt } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { kindOf, type MediaKind } from './types.js'

/** The bytes of a media object: in a file, in memory, or null if they were not kept. */
export type MediaContent = { path: string } | { bytes: Buffer } | null

/** A media object of the upstream. */
export interface MediaFile {
  /** Digits if it was generated here; an inbound message may use any id. */
  id: string
  /** The business number that uploaded or received it. */
  phoneNumberId: string
  mimeType: string
  /** Bytes. */
  size: number
  /** Lower hex. */
  sha256: string
  /** Milliseconds since the epoch. */
  addedAt: number
  /** True if a business number uploaded it, false if it came with an inbound message. */
  isUpload: boolean
  /** The business numbers whose tokens may read it. */
  readers: Set<string>
  content: MediaContent
}

/** An upload as the control API lists it. */
export interface ListedMediaFile {
  id: string
  phone_number_id: string
  mime_type: string
  file_size: number
  sha256: string
  /** ISO 8601. */
  uploaded_at: string
}

/** All media objects, by id. */
export class MediaStore {
  readonly #media = new Map<string, MediaFile>()

  find(id: string): MediaFile | undefined {
    return this.#media.get(id)
  }

  /** The kind of media that a business number uploaded under an id; null if it uploaded none. */
  kindOfUpload(phoneNumberId: string, id: string): MediaKind | null {
    const mediaFile = this.#media.get(id)
    return mediaFile?.isUpload && mediaFile.phoneNumberId === phoneNumberId ? kindOf(mediaFile.mimeType) : null
  }

  /** Adds a media object, and replaces one with the same id. */
  async add(mediaFile: Omit<MediaFile, 'addedAt' | 'readers'>): Promise<MediaFile> {
    const added = { ...mediaFile, addedAt: Date.now(), readers: new Set([mediaFile.phoneNumberId]) }
    const former = this.#media.get(mediaFile.id)
    this.#media.set(mediaFile.id, added)
    if (former) await discard(former.content)
    return added
  }

  async remove(mediaFile: MediaFile): Promise<void> {
    this.#media.delete(mediaFile.id)
    await discard(mediaFile.content)
  }

  /** The uploads of one business number, or of all numbers, oldest first. */
  uploads(phoneNumberId: string | undefined): ListedMediaFile[] {
    return Array.from(this.#media.values())
      .filter(
        (mediaFile) => mediaFile.isUpload && (phoneNumberId ?? mediaFile.phoneNumberId) === mediaFile.phoneNumberId,
      )
      .map(listed)
  }

  async reset(): Promise<void> {
    const contents = Array.from(this.#media.values(), ({ content }) => content)
    this.#media.clear()
    await Promise.all(contents.map(discard))
  }
}

/** A media id in the upstream's form. Its last digits are fixed, so that it is never a magic one. */
export function newMediaId(): string {
  return `${randomInt(10 ** 13, 10 ** 14)}11`
}

function listed({ id, phoneNumberId, mimeType, size, sha256, addedAt }: MediaFile): ListedMediaFile {
  return {
    id,
    phone_number_id: phoneNumberId,
    mime_type: mimeType,
    file_size: size,
    sha256,
    uploaded_at: new Date(addedAt).toISOString(),
  }
}

async function discard(content: MediaContent): Promise<void> {
  if (content && 'path' in content) await rm(content.path, { force: true })
}
