/** The pattern by which SQL's LIKE finds texts that hold `part`, whatever characters are in it. */
export function likeContaining(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
}
