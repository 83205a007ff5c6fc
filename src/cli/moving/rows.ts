const NEWLINE = 0x0a
const TAB = 0x09
const ONE = 0x31

/** Changes rows in COPY format field by field. */
export function changeRows(lines: Buffer, change: (fields: string[]) => void): Buffer {
  const rows = lines.toString('utf8').split('\n')
  // What follows the last line is empty.
  const changed = rows.map((row) => {
    if (row === '') return row
    const fields = row.split('\t')
    change(fields)
    return fields.join('\t')
  })
  return Buffer.from(changed.join('\n'))
}

/** The rows that begin with the id of an organization are counted; null if one begins with something else. */
export function countRowsOf(organizationId: string, lines: Buffer): number | null {
  const id = Buffer.from(organizationId)
  let rows = 0
  for (let at = 0; at < lines.length; rows++) {
    const end = lines.indexOf(NEWLINE, at)
    const after = lines[at + id.length]
    if (end < 0 || lines.compare(id, 0, id.length, at, at + id.length) !== 0) return null
    if (after !== TAB && after !== NEWLINE) return null
    at = end + 1
  }
  return rows
}

/** Replaces the last field of rows, 0 or 1, by one of two texts. */
export function replaceLastField(lines: Buffer, texts: readonly [zero: string, one: string]): Buffer {
  const [zero, one] = texts.map((text) => Buffer.from(`${text}\n`)) as [Buffer, Buffer]
  const parts: Buffer[] = []
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(NEWLINE, at)
    parts.push(lines.subarray(at, end - 1), lines[end - 1] === ONE ? one : zero)
    at = end + 1
  }
  return Buffer.concat(parts)
}
