const DELIMITERS = ['\t', ';', ',']

/** The rows of a text with its cells apart by tabs, semicolons or commas, quoted as spreadsheets do; without empty rows. */
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
      // Two of them within quotes are one that is meant.
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

/** The one that the first row that has any has most of: names may be known of some people alone. */
function delimiterOf(text: string): string {
  const line = text.split('\n').find((one) => DELIMITERS.some((delimiter) => one.includes(delimiter))) ?? ''
  const [best = ','] = DELIMITERS.toSorted((a, b) => line.split(b).length - line.split(a).length)
  return best
}

/** The text of a file; spreadsheets of older make do not write UTF-8. */
export async function readText(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
