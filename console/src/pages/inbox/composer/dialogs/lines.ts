import { TEXT_LIMITS } from '../attachments/limits.js'

/** Why a field of several lines is wrong. */
export type LinesProblem =
  | 'tooManyRows'
  | 'longRow'
  | 'tooManyProducts'
  | 'longProduct'
  | 'wrongCards'
  | 'needsSectionTitles'
  | 'wrongSections'

/** Items under a title; null: without one. */
export interface Section {
  title: string | null
  lines: string[]
}

/** Reads one item on each line. A line that begins with # is the title of the items below it. */
export function readSections(text: string): Section[] {
  const sections: Section[] = []
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line.startsWith('#')) sections.push({ title: line.slice(1).trim() || null, lines: [] })
    else if (line !== '') {
      if (sections.length === 0) sections.push({ title: null, lines: [] })
      sections.at(-1)?.lines.push(line)
    }
  }
  return sections
}

/** What the API would refuse of the rows of a list, the products of one, or the products of a carousel; null if nothing. */
export function problemOfLines(kind: 'rows' | 'products' | 'cards', text: string): LinesProblem | null {
  const sections = readSections(text)
  const lines = sections.flatMap((section) => section.lines)
  return problemOfItems(kind, lines) ?? (kind === 'cards' ? null : problemOfSections(sections))
}

function problemOfItems(kind: 'rows' | 'products' | 'cards', lines: string[]): LinesProblem | null {
  const { leastCards, mostCards } = TEXT_LIMITS
  if (kind === 'rows') {
    if (lines.length > TEXT_LIMITS.rows) return 'tooManyRows'
    return lines.every(isRow) ? null : 'longRow'
  }
  if (lines.some((id) => lengthOf(id) > TEXT_LIMITS.productId)) return 'longProduct'
  if (kind === 'products') return lines.length > TEXT_LIMITS.products ? 'tooManyProducts' : null
  return lines.length < leastCards || lines.length > mostCards ? 'wrongCards' : null
}

function isRow(line: string): boolean {
  const [title = '', description = ''] = line.split('|', 2).map((part) => part.trim())
  return title !== '' && lengthOf(title) <= TEXT_LIMITS.rowTitle && lengthOf(description) <= TEXT_LIMITS.description
}

function problemOfSections(sections: Section[]): LinesProblem | null {
  if (sections.length > 1 && sections.some(({ title }) => title === null)) return 'needsSectionTitles'
  const areAllFine = sections.every(
    ({ title, lines }) => lines.length > 0 && lengthOf(title ?? '') <= TEXT_LIMITS.sectionTitle,
  )
  return areAllFine && sections.length > 0 && sections.length <= TEXT_LIMITS.sections ? null : 'wrongSections'
}

/** In code points, as the API counts. */
function lengthOf(text: string): number {
  return Array.from(text).length
}
