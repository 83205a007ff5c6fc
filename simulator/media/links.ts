import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const validForMs = 5 * 60 * 1_000

/** Download URLs that are valid for five minutes. The URL itself carries the permission, so none is stored. */
export class MediaLinks {
  readonly #key = randomBytes(32)

  /** The path and query of the URL of a media object. `now` is in milliseconds since the epoch. */
  pathOf(mediaId: string, now: number): string {
    const expires = String(now + validForMs)
    const signature = this.#sign(mediaId, expires)
    return `/attachments/${encodeURIComponent(mediaId)}?expires=${expires}&signature=${signature}`
  }

  /** True if a URL was issued by this simulator and is valid at `now`. */
  isValid(mediaId: string, expires: string, signature: string, now: number): boolean {
    const expected = Buffer.from(this.#sign(mediaId, expires))
    const given = Buffer.from(signature)
    return given.length === expected.length && timingSafeEqual(given, expected) && now < Number(expires)
  }

  #sign(mediaId: string, expires: string): string {
    return createHmac('sha256', this.#key).update(`${expires} ${mediaId}`).digest('hex')
  }
}
