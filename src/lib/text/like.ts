/** True if a text has three letters or digits in a row. For shorter parts a trigram index would return all rows. */
export function isKnownToTrigrams(text: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(text)
}

/** The LIKE pattern for texts that contain `part`, with special characters escaped. */
export function likeContaining(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
}
