import type { TSchema } from 'typebox'
import { LineTooLong, readLines } from '../../lib/files/read-lines.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { RecipientBody } from '../../model/broadcasts/audience.js'
import { compileGiven } from '../../model/given.js'
import { compileSchema, findInputProblem } from '../../model/input.js'
import { Problem } from '../../model/problem.js'
import { PARAMETER_FIELDS, slotsOf } from '../../model/templates/parameters.js'
import type { Template } from '../../model/templates/template.js'
import { foldHeading } from '../contacts/headings.js'
import { readTable, type TableColumns, type TableKind } from '../contacts/table.js'
import type { RecipientInput } from './list-recipients.js'

export type AudienceFormat = 'csv' | 'ndjson'

/** A file that has arrived completely. */
export interface AudienceFile {
  path: string
  format: AudienceFormat
  /** The template whose variables and buttons headings may name. */
  template: Template | null
}

/**
 * A row of the file: a recipient, or the problem that rejects it, with what was read. `row` counts from 1; blank rows
 * count.
 */
export type AudienceRow =
  | { row: number; recipient: RecipientInput }
  | { row: number; problem: Problem; fields?: Readonly<Record<string, unknown>> }

const SCHEMA: TSchema = RecipientBody
const check = compileSchema(SCHEMA)
const dropNotGiven = compileGiven(SCHEMA)
/** As the limit of a CSV row. */
const MAX_LINE = MEBIBYTE / 4
/** `bodyParameters.discount`, `buttonParameters.param1` */
const PARAMETER = /^(body|button)Parameters\.(.+)$/i
const TABLE: TableKind = { fields: ['phone_number', 'chat_id', 'full_name'], number: 'chatNumber' }

/**
 * Reads a file of recipients. CSV: a table with a number and, if wanted, a name and values, in columns called
 * `bodyParameters.…`, `buttonParameters.…` or as a variable or button of the template; passes its columns to
 * `onColumns`. NDJSON: a recipient of POST /broadcasts on each line. Throws invalid_csv, invalid_json, missing_field
 * for what cannot be read to its end.
 */
export async function* readAudienceFile(
  { path, format, template }: AudienceFile,
  onColumns?: (columns: TableColumns) => void,
): AsyncGenerator<AudienceRow> {
  const rows = format === 'csv' ? readRecipients(path, template, onColumns) : readObjects(path)
  try {
    for await (const { row, fields } of rows) {
      if (fields instanceof Problem) {
        yield { row, problem: fields }
        continue
      }
      dropNotGiven(fields)
      const problem = findInputProblem(check, SCHEMA, fields, 'The row')
      if (problem) yield { row, problem, fields: Object(fields) }
      else yield { row, recipient: fields as RecipientInput }
    }
  } catch (error) {
    throw error instanceof LineTooLong ? new Problem('invalid_json', error.message) : error
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

async function* readRecipients(
  path: string,
  template: Template | null,
  onColumns?: (columns: TableColumns) => void,
): AsyncGenerator<ReadRow> {
  const table = { ...TABLE, others: (heading: string) => parametersOf(heading, template) }
  for await (const read of readTable(path, table, onColumns)) {
    yield { row: read.row, fields: 'problem' in read ? read.problem : toRecipient(read.fields) }
  }
}

/** The values that a column holds, as paths. */
function parametersOf(heading: string, template: Template | null): string[] {
  const [, part, key] = PARAMETER.exec(heading) ?? []
  if (part && key) return [`${part.toLowerCase() === 'body' ? PARAMETER_FIELDS.body : PARAMETER_FIELDS.buttons}.${key}`]
  const folded = foldHeading(heading)
  if (template === null || folded === '') return []
  const { body, buttons } = slotsOf(template)
  const isMeant = (name: string) => foldHeading(name) === folded
  return [
    ...body.filter(({ name }) => isMeant(name)).map(({ name }) => `${PARAMETER_FIELDS.body}.${name}`),
    ...buttons
      .filter(({ name, aliases }) => [name, ...aliases].some(isMeant))
      .map(({ name }) => `${PARAMETER_FIELDS.buttons}.${name}`),
  ]
}

function toRecipient({ chat_id, phone_number, full_name, ...values }: Record<string, string>): object {
  // In an export of contacts, the number has its plus sign, and the chat id has none.
  const chatNumber = (phone_number ?? chat_id)?.trim()
  const own = (field: string) => {
    const start = `${field}.`
    const paths = Object.entries(values).filter(([path]) => path.startsWith(start))
    return (
      paths.length > 0 && {
        [field]: Object.fromEntries(paths.map(([path, value]) => [path.slice(start.length), value])),
      }
    )
  }
  return {
    ...(chatNumber !== undefined && { chatNumber }),
    ...(full_name !== undefined && { name: full_name }),
    ...own(PARAMETER_FIELDS.body),
    ...own(PARAMETER_FIELDS.buttons),
  }
}
