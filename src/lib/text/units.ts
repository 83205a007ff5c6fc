/** The bytes of a megabyte, as people say it. */
export const MEBIBYTE = 1_048_576

/** A size in bytes for people: in MB from 1 MB on, else in KB, rounded to a tenth. */
export function sizeText(bytes: number): string {
  const [unit, size] = bytes < MEBIBYTE ? ['KB', bytes / 1_024] : ['MB', bytes / MEBIBYTE]
  return `${Math.round(size * 10) / 10} ${unit}`
}
