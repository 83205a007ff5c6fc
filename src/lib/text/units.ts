/** Bytes of what people call a megabyte. */
export const MEBIBYTE = 1_048_576

/** A size in bytes as people read it: in MB from one on, else in KB; rounded to a tenth. */
export function sizeText(bytes: number): string {
  const [unit, size] = bytes < MEBIBYTE ? ['KB', bytes / 1_024] : ['MB', bytes / MEBIBYTE]
  return `${Math.round(size * 10) / 10} ${unit}`
}
