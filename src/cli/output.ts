/** A row of a listing: a value for each column. */
export type Row = Record<string, unknown>

/** Prints rows as a table, or as one JSON array with `--json`. Columns are those of the first row. */
export function printRows(rows: readonly object[], { json }: { json?: boolean }): void {
  process.stdout.write(json ? `${JSON.stringify(rows, null, 2)}\n` : formatTable(rows as readonly Row[]))
}

/** Prints one thing: its fields a line each, or as JSON with `--json`. */
export function printFields(fields: object, { json }: { json?: boolean }): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(fields, null, 2)}\n`)
    return
  }
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  const lines = Object.entries(fields).map(([name, value]) => `${name.padEnd(width)}  ${formatValue(value)}\n`)
  process.stdout.write(lines.join(''))
}

function formatTable(rows: readonly Row[]): string {
  const [first] = rows
  if (!first) return '(none)\n'
  const columns = Object.keys(first)
  const table = [columns, ...rows.map((row) => columns.map((column) => formatValue(row[column])))]
  const widths = columns.map((_, index) => Math.max(...table.map((cells) => cells[index]?.length ?? 0)))
  return table
    .map(
      (cells) =>
        `${cells
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? value.join(',') : String(value)
}
