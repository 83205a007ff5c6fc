const DELIMITERS = ['\t', ';', ',']

/**
 * Splits a text into rows and cells. Cells are separated by tabs, semicolons or commas, and quoted as in CSV. Empty
 * rows are left out.
 */
export function readRows(text: string): string[][] {
  const delimiter = delimiterOf(text)
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  const endCell = () => {
    row.push(cell.trim())
    cell = ''
  }
  const endRow = () => {
    endCell()
    if (row.some((one) => one !== '')) rows.push(row)
    row = []
  }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') {
      // Two quotes within quotes stand for one.
      if (isQuoted && text.charAt(at + 1) === '"') {
        cell += character
        at++
      } else if (isQuoted || cell.trim() === '') isQuoted = !isQuoted
      else cell += character
    } else if (isQuoted) cell += character
    else if (character === delimiter) endCell()
    else if (character === '\n') endRow()
    else if (character !== '\r' && character !== '\ufeff') cell += character
  }
  endRow()
  return rows
}

/** The most frequent delimiter of the first row that has any: rows without a name have none. */
function delimiterOf(text: string): string {
  const line = text.split('\n').find((one) => DELIMITERS.some((delimiter) => one.includes(delimiter))) ?? ''
  const [best = ','] = DELIMITERS.toSorted((a, b) => line.split(b).length - line.split(a).length)
  return best
}

/** The text of a file, in UTF-8 or as older spreadsheets write it. */
export async function readText(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
