/// <reference lib="es2024.string" />

import { CsvProblem, type CsvRecord, readCsv } from '../../lib/text/csv-read.js'
import { unguardFormula } from '../../lib/text/formula-guard.js'
import { nearestWord } from '../../lib/text/nearest-word.js'
import { normalizeText } from '../../lib/text/normalize.js'
import { excerpt } from '../../lib/text/text.js'
import { PROBLEMS, Problem } from '../../model/problem.js'
import { sentence } from '../../model/sentence.js'
import {
  type ContactField,
  foldHeading,
  type Heading,
  isMobileLabel,
  labelHeadings,
  NAME_RANKS,
  NUMBER_RANKS,
  readHeading,
} from './headings.js'

/** What is read of a table. */
export interface TableKind {
  /** The fields that are read; columns of others are ignored. */
  fields: readonly ContactField[]
  /** What the number is called where it is missing. */
  number: string
  /** The other fields that a heading stands for, beside or instead of those. */
  others?: (heading: string) => readonly string[]
}

/** What the first row of a table says. */
export interface TableColumns {
  /** The fields that have a column. */
  fields: string[]
  /** The headings that are not known. */
  ignored: string[]
}

/** A row of a table: the text of each field that is not empty, or what is wrong with it. The first row is 1. */
export type TableRow = { row: number; fields: Record<string, string> } | { row: number; problem: Problem }

/** A column that is read. `label`: the column that says what kind of number it has. */
interface Column {
  index: number
  heading: Heading
  label: number | null
}

interface Columns extends TableColumns {
  hasHeadings: boolean
  width: number
  /** By field, in the order in which they are read. */
  known: [field: ContactField, columns: Column[]][]
  others: { index: number; field: string }[]
}

const MAX_COLUMNS = 1_000
/** How many columns are named. */
const MAX_NAMED = 20
/** The fields that may have several columns. */
const REPEATED: readonly string[] = ['phone_number', 'full_name', 'email', 'tags']
/** Google writes several values of a cell like this. */
const BETWEEN_VALUES = ' ::: '
/** A cell that can only be a number, as people, spreadsheets and WhatsApp write them. */
const NUMBER = /^(?:whatsapp:|tel:)?[^\p{L}@]*(?:e\+?\d+|@(?:s\.whatsapp\.net|c\.us))?$/iu
const MIN_DIGITS = 6
const DATE = /^\d{4}-\d\d-\d\d|^\d\d?[./]\d\d?[./]\d{4}/

/**
 * Reads a table of people (CSV in UTF-8): contacts, opt-outs, recipients. Its first row has the headings; if it has a
 * number instead, and no heading that is known, the table has none, and its columns are a number and a name. Passes
 * them to `onColumns`. Throws invalid_csv for what cannot be read, and missing_field if no column has numbers.
 */
export async function* readTable(
  path: string,
  kind: TableKind,
  onColumns: (columns: TableColumns) => void = () => undefined,
): AsyncGenerator<TableRow> {
  let columns: Columns | undefined
  try {
    for await (const record of readCsv(path)) {
      if (record.cells.every(isBlank)) continue
      if (columns === undefined) {
        columns = readColumns(record, kind)
        onColumns(columns)
        if (columns.hasHeadings) continue
      }
      yield readRow(columns, record)
    }
  } catch (error) {
    if (!(error instanceof CsvProblem)) throw error
    throw new Problem('invalid_csv', sentence('unreadable_row', { row: error.row, why: error.message }))
  }
  if (columns === undefined) throw new Problem('invalid_csv', 'The file is empty: its first row must name the columns')
}

/** A sentence for each ignored column; `hint`: what to do about one. */
export function describeIgnored(ignored: readonly string[], hint: (heading: string) => string): string[] {
  const sentences = ignored
    .slice(0, MAX_NAMED)
    .map((heading) => `The column "${excerpt(heading)}" is not known and was ignored${hint(heading)}`)
  const rest = ignored.length - sentences.length
  return rest > 0 ? [...sentences, `${rest} more columns are not known and were ignored.`] : sentences
}

/** The field that a misspelt heading may stand for, as a sentence. */
export function suggestField(heading: string, fields: readonly string[]): string {
  const nearest = nearestWord(heading.trim(), fields)
  return nearest === null ? '.' : `. Did you mean ${nearest}?`
}

/** Why a row is left out, as answers list it; `value`: the beginning of the text that the reason is about. */
export function describeProblem(
  { code, message }: Problem,
  fields: Readonly<Record<string, unknown>> = {},
): { error: string; message: string; value?: string } {
  // A message about a field begins with its name.
  const [field = ''] = /^\w+/.exec(message) ?? []
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined
  const shown = typeof value === 'string' ? { value: storable(excerpt(value)) } : {}
  return { error: PROBLEMS[code], message: storable(message), ...shown }
}

/** An excerpt may end within a character. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

function readColumns({ row, cells }: CsvRecord, kind: TableKind): Columns {
  if (cells.length > MAX_COLUMNS) {
    throw new Problem(
      'invalid_csv',
      `The header (row ${row} of the file) has ${cells.length} columns: at most ${MAX_COLUMNS}`,
    )
  }
  const columns = readHeadings(cells, kind)
  checkRepeated(columns, row)
  if (columns.fields.includes('phone_number') || columns.fields.includes('chat_id')) return columns
  const isTable = columns.fields.length > 0 || cells.some((cell) => readHeading(cell) !== null)
  return (isTable ? null : withoutHeadings(cells, kind)) ?? missingNumber(cells, kind)
}

function readHeadings(cells: readonly string[], { fields, others = () => [] }: TableKind): Columns {
  const folded = cells.map(foldHeading)
  const known = cells.flatMap((cell, index): Column[] => {
    const heading = readHeading(cell)
    if (heading === null || !fields.includes(heading.field)) return []
    const labels = labelHeadings(cell)
    const label = folded.findIndex((one) => labels.includes(one))
    return [{ index, heading, label: label === -1 ? null : label }]
  })
  const sure = known.filter(({ heading }) => heading.field !== 'phone_number' || heading.rank < NUMBER_RANKS.unsure)
  const isSure = sure.some(({ heading: { field } }) => field === 'phone_number' || field === 'chat_id')
  const read = isSure ? sure : known
  const other = cells.flatMap((cell, index) => others(unguardFormula(cell).trim()).map((field) => ({ index, field })))
  const used = new Set([...read.flatMap(({ index, label }) => [index, label]), ...other.map(({ index }) => index)])
  return {
    hasHeadings: true,
    width: cells.length,
    known: byField(read),
    others: other,
    fields: [...new Set([...read.map(({ heading }) => heading.field), ...other.map(({ field }) => field)])],
    ignored: cells.filter((cell, index) => !used.has(index) && !isBlank(cell)),
  }
}

/** The columns of each field, in the order in which they are read. */
function byField(columns: readonly Column[]): Columns['known'] {
  const sorted = columns.toSorted((one, next) => one.heading.rank - next.heading.rank || one.index - next.index)
  const fields = [...new Set(sorted.map(({ heading }) => heading.field))]
  return fields.map((field) => [field, sorted.filter(({ heading }) => heading.field === field)])
}

function checkRepeated({ known, others }: Columns, row: number): void {
  const names = [...known.flatMap(([field, columns]) => columns.map(() => field)), ...others.map(({ field }) => field)]
  const twice = names.find((name: string, index) => names.indexOf(name) < index && !REPEATED.includes(name))
  if (twice === undefined) return
  throw new Problem('invalid_csv', sentence('repeated_column', { row, column: excerpt(twice) }))
}

/** The columns of a list whose first row is a person already; null if it is not. */
function withoutHeadings(cells: readonly string[], { fields }: TableKind): Columns | null {
  const number = cells.findIndex(isNumber)
  if (number === -1) return null
  const named = cells.findIndex((cell, index) => index !== number && /\p{L}/u.test(cell) && !cell.includes('@'))
  const columns: Column[] = [
    { index: number, heading: { field: 'phone_number', rank: 0 }, label: null },
    { index: named === -1 ? number + 1 : named, heading: { field: 'full_name', rank: 0 }, label: null },
  ]
  const known = byField(columns.filter(({ heading }) => fields.includes(heading.field)))
  return {
    hasHeadings: false,
    width: MAX_COLUMNS,
    known,
    others: [],
    fields: known.map(([field]) => field),
    ignored: [],
  }
}

function missingNumber(cells: readonly string[], { number }: TableKind): never {
  const named = cells.filter((cell) => !isBlank(cell))
  const shown = named.slice(0, MAX_NAMED).map((cell) => `"${excerpt(cell.trim())}"`)
  const rest = named.length > MAX_NAMED ? ` and ${named.length - MAX_NAMED} more` : ''
  const headings = `${shown.join(', ')}${rest}`
  throw new Problem('missing_field', sentence('no_number_column', { field: number, headings }))
}

function readRow({ width, known, others }: Columns, { row, cells }: CsvRecord): TableRow {
  const last = cells.findLastIndex((cell) => !isBlank(cell))
  if (last >= width) {
    const counts = { cells: last + 1, columns: width }
    return { row, problem: new Problem('invalid_csv', sentence('long_row', counts)) }
  }
  const texts = cells.map(unguardFormula)
  const fields: Record<string, string> = {}
  for (const [field, columns] of known) {
    const text = (READERS[field] ?? firstFilled)(columns, texts)
    if (text !== '') fields[field] = text
  }
  for (const { index, field } of others) if (texts[index]) fields[field] = texts[index]
  return { row, fields }
}

/** How several columns are one value. */
const READERS: Record<string, (columns: readonly Column[], texts: readonly string[]) => string> = {
  phone_number: readNumber,
  full_name: readName,
  contact_summary: firstGiven,
  email: (columns, texts) => firstValue(firstFilled(columns, texts)),
}

/** Of the columns with a number, the one for messages; what is no number (`1`, a date) only if there is no other. */
function readNumber(columns: readonly Column[], texts: readonly string[]): string {
  const filled = columns.flatMap(({ index, heading, label }) => {
    const text = firstValue(texts[index] ?? '')
    const isMobile = label !== null && isMobileLabel(texts[label] ?? '')
    const rank = isMobile ? Math.min(heading.rank, NUMBER_RANKS.mobile) : heading.rank
    return isBlank(text) ? [] : [{ text, rank: isNumber(text) ? rank : Number.POSITIVE_INFINITY }]
  })
  return filled.length === 0 ? '' : filled.reduce((best, one) => (one.rank < best.rank ? one : best)).text
}

/** The whole name, or its parts in order. */
function readName(columns: readonly Column[], texts: readonly string[]): string {
  const whole = firstGiven(
    columns.filter(({ heading }) => heading.rank === NAME_RANKS.full),
    texts,
  )
  const parts = columns.filter(({ heading }) => heading.rank !== NAME_RANKS.full)
  const hasFirst = parts.some(({ heading }) => heading.rank === NAME_RANKS.first)
  const joined = parts
    .map(({ index }) => (texts[index] ?? '').trim())
    .filter((text) => text !== '')
    .join(' ')
  if (whole === '') return joined
  if (hasFirst || joined === '' || normalizeText(whole.trim()).endsWith(normalizeText(joined))) return whole
  return `${whole.trim()} ${joined}`
}

/** Blanks are a text too, so that an export is imported unchanged, but every other text comes before them. */
function firstGiven(columns: readonly Column[], texts: readonly string[]): string {
  return (
    firstFilled(columns, texts) || (columns.map(({ index }) => texts[index] ?? '').find((text) => text !== '') ?? '')
  )
}

function firstFilled(columns: readonly Column[], texts: readonly string[]): string {
  return columns.map(({ index }) => texts[index] ?? '').find((text) => !isBlank(text)) ?? ''
}

function firstValue(text: string): string {
  return (text.split(BETWEEN_VALUES)[0] ?? '').trim()
}

function isNumber(cell: string): boolean {
  const text = cell.trim()
  return NUMBER.test(text) && !DATE.test(text) && text.replace(/\D/g, '').length >= MIN_DIGITS
}

function isBlank(cell: string): boolean {
  return cell.trim() === ''
}
