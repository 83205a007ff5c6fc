import type { Streams } from './invocation.js'

/** A row of a listing: one value per column. */
export type Row = Record<string, unknown>

/** Prints a JSON array with `--json`, otherwise a table with the columns of the first row. */
export function printList<Thing extends object>(
  { stdout }: Streams,
  things: readonly Thing[],
  { json }: { json?: boolean },
  toRow: (thing: Thing) => Row = (thing) => thing as Row,
): void {
  stdout.write(json ? toJson(things) : formatTable(things.map(toRow)))
}

/** Prints JSON with `--json`, otherwise one field per line. */
export function printFields({ stdout }: Streams, fields: object, { json }: { json?: boolean }): void {
  stdout.write(json ? toJson(fields) : formatFields(fields))
}

/** Prints what was done; with `--json` as `{"message": …}`. */
export function printDone({ stdout }: Streams, message: string, { json }: { json?: boolean } = {}): void {
  stdout.write(json ? toJson({ message }) : `${message}\n`)
}

/** Prints a note for people on standard error, where programs that read the result do not see it. */
export function printNote({ stderr }: Streams, note: string): void {
  stderr.write(`${note}\n`)
}

/** A text in one line, without terminal control characters. */
export function inOneLine(text: string): string {
  return text.trim().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function formatFields(fields: object): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  const lines = Object.entries(fields).map(([name, value]) => `${name.padEnd(width)}  ${formatValue(value)}\n`)
  return lines.join('')
}

function formatTable(rows: readonly Row[]): string {
  const [first] = rows
  if (!first) return '(none)\n'
  const columns = Object.keys(first)
  const table = [columns, ...rows.map((row) => columns.map((column) => formatValue(row[column])))]
  const widths = columns.map((_, index) => Math.max(...table.map((cells) => cells[index]?.length ?? 0)))
  const lines = table.map((cells) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  return inOneLine(Array.isArray(value) ? value.join(',') : String(value))
}
