import type { TSchema } from 'typebox'
import { LineTooLong, readLines } from '../../lib/files/read-lines.js'
import { CsvProblem, type CsvRecord, readCsv } from '../../lib/text/csv-read.js'
import { unguardFormula } from '../../lib/text/formula-guard.js'
import { excerpt } from '../../lib/text/text.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { RecipientBody } from '../../model/broadcasts/audience.js'
import { compileGiven } from '../../model/given.js'
import { compileSchema, findInputProblem } from '../../model/input.js'
import { PROBLEMS, Problem } from '../../model/problem.js'
import { readHeader } from '../contacts/cells.js'
import type { RecipientInput } from './list-recipients.js'

export type AudienceFormat = 'csv' | 'ndjson'

/** A row of the file: a recipient, or the problem that rejects it. `row` counts from 1; blank rows count. */
export type AudienceRow = { row: number; recipient: RecipientInput } | { row: number; problem: Problem }

const SCHEMA: TSchema = RecipientBody
const validate = compileSchema(SCHEMA)
const dropNotGiven = compileGiven(SCHEMA)
/** As the limit of a CSV row. */
const MAX_LINE = MEBIBYTE / 4
const MAX_WARNINGS = 20
/** `bodyParameters.discount`, `buttonParameters.param1` */
const PARAMETER = /^(body|button)Parameters\.(.+)$/i

/**
 * Reads a file of recipients. CSV: a header with `chatNumber`,
 * and, if wanted, `name`, `bodyParameters.…` and `buttonParameters.…`; each ignored column is passed to `warn`. NDJSON:
 * a recipient of POST /broadcasts on each line. Throws invalid_csv, invalid_json, missing_field for what cannot be read
 * to its end.
 */
export async function* readAudienceFile(
  path: string,
  format: AudienceFormat,
  warn: (warning: string) => void,
): AsyncGenerator<AudienceRow> {
  const rows = format === 'csv' ? readTable(path, warn) : readObjects(path)
  try {
    for await (const { row, fields } of rows) {
      dropNotGiven(fields)
      const problem = fields instanceof Problem ? fields : findInputProblem(validate, SCHEMA, fields, 'The row')
      yield problem ? { row, problem } : { row, recipient: fields as RecipientInput }
    }
  } catch (error) {
    if (error instanceof CsvProblem) throw new Problem('invalid_csv', error.message)
    if (error instanceof LineTooLong) throw new Problem('invalid_json', error.message)
    throw error
  }
}

/** The fields of a row, unchecked, or what is wrong with it. */
interface ReadRow {
  row: number
  fields: unknown
}

async function* readObjects(path: string): AsyncGenerator<ReadRow> {
  let row = 0
  for await (const line of readLines(path, MAX_LINE)) {
    row++
    if (line.trim() !== '') yield { row, fields: parseLine(line) }
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    return new Problem('invalid_json', `The row is not JSON: ${(error as Error).message}`)
  }
}

/** What a column holds; `key`: of a parameter. */
type Column =
  | { field: 'chatNumber' | 'name'; key: null }
  | { field: 'bodyParameters' | 'buttonParameters'; key: string }

async function* readTable(path: string, warn: (warning: string) => void): AsyncGenerator<ReadRow> {
  let columns: (Column | null)[] | undefined
  for await (const { row, cells } of readCsv(path)) {
    if (columns === undefined) columns = readColumns(cells, warn)
    else if (cells.some((cell) => cell.trim() !== '')) yield { row, fields: readCells(columns, { row, cells }) }
  }
  if (columns === undefined) throw new Problem('invalid_csv', 'The file is empty: its first row must name the columns')
}

function readColumns(header: readonly string[], warn: (warning: string) => void): (Column | null)[] {
  const known = readHeader(header, ['phone_number', 'chat_id', 'full_name'])
  const columns = header.map((name, index): Column | null => {
    const column = known[index]
    if (column) return { field: column === 'full_name' ? 'name' : 'chatNumber', key: null }
    const [, part, key] = PARAMETER.exec(unguardFormula(name).trim()) ?? []
    if (part === undefined || key === undefined) return null
    return { field: part.toLowerCase() === 'body' ? 'bodyParameters' : 'buttonParameters', key }
  })
  checkColumns(columns)
  const ignored = header.filter((name, index) => columns[index] === null && name.trim() !== '')
  for (const name of ignored.slice(0, MAX_WARNINGS)) {
    warn(
      `The column "${excerpt(name)}" is not known and was ignored: a value of the template is named bodyParameters.… or buttonParameters.…`,
    )
  }
  return columns
}

function checkColumns(columns: readonly (Column | null)[]): void {
  const names = columns.flatMap((column) =>
    column ? [[column.field, ...(column.key === null ? [] : [column.key])].join('.')] : [],
  )
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) {
    throw new Problem('invalid_csv', `The header (row 1 of the file) names ${excerpt(twice)} twice`)
  }
  if (names.includes('chatNumber')) return
  throw new Problem('missing_field', 'chatNumber is required: the header (row 1 of the file) must name such a column')
}

/** Empty cells are left out. */
function readCells(columns: readonly (Column | null)[], { cells }: CsvRecord): unknown {
  if (cells.length > columns.length) {
    const counts = `has ${cells.length} cells, and the header ${columns.length}`
    return new Problem('invalid_csv', `The row ${counts}: a cell that holds the delimiter must be quoted`)
  }
  const values = { bodyParameters: [] as string[][], buttonParameters: [] as string[][] }
  const fields: Record<string, unknown> = {}
  cells.forEach((cell, index) => {
    const column = columns[index]
    const value = unguardFormula(cell)
    if (!column || value === '') return
    if (column.key === null) fields[column.field] = column.field === 'chatNumber' ? value.trim() : value
    else values[column.field].push([column.key, value])
  })
  for (const [field, entries] of Object.entries(values)) {
    if (entries.length > 0) fields[field] = Object.fromEntries(entries)
  }
  return fields
}

/** The problem as the answer lists it. */
export function describeProblem({ code, message }: Problem): { error: string; message: string } {
  return { error: PROBLEMS[code], message }
}
