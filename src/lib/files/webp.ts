/** How many of a WebP file's first bytes `isAnimatedWebp` reads. */
export const WEBP_HEAD = 21

const ANIMATION = 0x02

/** True if the extended header of a WebP file has the animation flag. */
export function isAnimatedWebp(head: Buffer): boolean {
  return head.toString('latin1', 8, 16) === 'WEBPVP8X' && ((head[20] ?? 0) & ANIMATION) !== 0
}
