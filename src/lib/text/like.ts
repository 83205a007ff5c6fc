/** Whether a text has three letters or digits in a row: a trigram index knows nothing of shorter parts, and hands out all its rows. */
export function isKnownToTrigrams(text: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(text)
}

/** The pattern by which SQL's LIKE finds texts that hold `part`, whatever characters are in it. */
export function likeContaining(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
}
