const MAX_LENGTH = 100

/**
 * The one of `words` that a misspelt word most likely means, ignoring case and punctuation; null if more than half of
 * the characters differ from each of them.
 */
export function nearestWord(misspelt: string, words: Iterable<string>): string | null {
  const given = fold(misspelt)
  let nearest: string | null = null
  let least = 1 / 2
  for (const word of words) {
    const meant = fold(word)
    const share = distance(given, meant) / Math.max(given.length, meant.length, 1)
    if (share > least || (share === least && nearest !== null)) continue
    nearest = word
    least = share
  }
  return nearest
}

function fold(word: string): string {
  return word
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replace(/[\s_.-]/g, '')
}

/** The Levenshtein distance: characters to insert, delete or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[other.length] as number
}
