/**
 * Creates a function that returns true the first time it sees a word of a group. At most `maxWords` per group return
 * true, and beyond `maxGroups` groups the oldest is forgotten, which bounds the memory.
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
