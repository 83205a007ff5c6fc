const BEFORE = 60
const LENGTH = 300

/** The part of a long text around the first match of a term, ignoring case and accents. */
export function excerpt(text: string, terms: readonly string[]): string {
  const characters = Array.from(text)
  if (characters.length <= LENGTH) return text
  const folded = foldEach(characters)
  const places = terms.map((term) => folded.indexOf(foldEach(Array.from(term)))).filter((place) => place >= 0)
  const from = Math.max(0, Math.min(...places, characters.length) - BEFORE)
  const start = places.length === 0 || from === 0 ? 0 : from
  const shown = characters.slice(start, start + LENGTH).join('')
  return `${start > 0 ? '…' : ''}${shown}${start + LENGTH < characters.length ? '…' : ''}`
}

/** One unit per character, so that positions match those of the text. */
function foldEach(characters: readonly string[]): string {
  return characters.map((character) => character.normalize('NFD').toLowerCase().charAt(0)).join('')
}
