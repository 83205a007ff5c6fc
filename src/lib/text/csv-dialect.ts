/** How the cells of a CSV file are separated. */
export interface CsvDialect {
  delimiter: string
  /** Whether the first line only names the delimiter, as Excel writes it (`sep=;`). */
  hasSeparatorLine: boolean
}

/** If two are as likely, the first one. */
const DELIMITERS = ['\t', ';', '|', ',']
/** Other programs quote the line, or fill it up with delimiters. */
const SEPARATOR_LINE = /^"?sep=([^"\r\n])"?[\t;|,]*(?:[\r\n]|$)/i

/**
 * Reads the dialect off the beginning of a file: as its first line says, else the delimiter that divides the rows into
 * the most cells, in as many of them as in the first.
 */
export function findDialect(head: string): CsvDialect {
  const named = SEPARATOR_LINE.exec(head)?.[1]
  if (named !== undefined) return { delimiter: named, hasSeparatorLine: true }
  const rows = countDelimiters(head)
  const first = rows.findIndex((row) => row.some((count) => count > 0))
  const [reference = [], ...others] = rows.slice(Math.max(0, first))
  const scored = DELIMITERS.map((delimiter, index) => {
    const count = reference[index] ?? 0
    const alike = others.filter((row) => row[index] === count).length
    return { delimiter, count, score: others.length === 0 ? count : (count * alike) / others.length }
  })
  const best = scored.reduce((most, one) => {
    return one.score > most.score || (one.score === most.score && one.count > most.count) ? one : most
  })
  return { delimiter: best.count === 0 ? ',' : best.delimiter, hasSeparatorLine: false }
}

/** How often each delimiter occurs outside quotes, by row; rows without any text are left out. */
function countDelimiters(head: string): number[][] {
  const rows: number[][] = []
  let row = DELIMITERS.map(() => 0)
  let isBlank = true
  let isQuoted = false
  let isAtStart = true
  const endRow = () => {
    if (!isBlank) rows.push(row)
    row = DELIMITERS.map(() => 0)
    isBlank = true
  }
  for (const character of head) {
    const index = DELIMITERS.indexOf(character)
    const isEnd = character === '\n' || character === '\r'
    if (character === '"' && (isQuoted || isAtStart)) {
      // A doubled quote ends the quotes and begins them again.
      isQuoted = !isQuoted
      isBlank = false
    } else if (isQuoted) continue
    else if (isEnd) endRow()
    else if (index !== -1) row[index] = (row[index] as number) + 1
    else if (character.trim() !== '') isBlank = false
    isAtStart = isEnd || index !== -1 || character === '"'
  }
  endRow()
  return rows
}
