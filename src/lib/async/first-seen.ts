/**
 * Makes a function that tells whether a word of a group is new: true the first time, then false. At most `maxWords` of a group are
 * true, and when there are more than `maxGroups` groups the oldest is forgotten, so the memory has a limit.
 */
export function createFirstSeen(maxGroups: number, maxWords: number): (group: string, word: string) => boolean {
  const groups = new Map<string, Set<string>>()
  return (group, word) => {
    const words = groups.get(group) ?? new Set()
    if (words.has(word) || words.size >= maxWords) return false
    groups.set(group, words.add(word))
    if (groups.size > maxGroups) groups.delete(groups.keys().next().value as string)
    return true
  }
}
