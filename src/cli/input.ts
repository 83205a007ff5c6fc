import { text } from 'node:stream/consumers'
import type { Static, TSchema } from 'typebox'
import { compileSchema, findInputProblem } from '../model/input.js'
import { Problem } from '../model/problem.js'
import { compileUnknownFields, describeUnknown } from '../model/unknown-fields.js'
import { CliFailure } from './failure.js'
import type { Streams } from './invocation.js'

/** Options whose name is not the field's. */
const OPTION_OF_FIELD: Record<string, string> = {
  default_country: '--country',
  attribution_window_days: '--attribution-window',
  full_name: '--name',
  expires_at: '--expires-at',
  overlap_seconds: '--overlap',
  password: 'the password on standard input',
}

/**
 * Reads options by the rules that the admin API has for the same fields. Throws a CliFailure of code 2 that names the
 * option and what it should have been.
 */
export function readOptions<Schema extends TSchema, Result>(
  schema: Schema,
  given: Record<string, unknown>,
  read: (input: Static<Schema>) => Result,
): Result {
  const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return refusing(nameOption, () => read(check(schema, input, 'The options')))
}

/**
 * Reads a JSON object from standard input by the rules that the admin API has for the same body. Throws a CliFailure of
 * code 2 that names the field and what it should have been, or the first field that is not known.
 */
export async function readDocument<Schema extends TSchema, Result>(
  streams: Streams,
  schema: Schema,
  read: (input: Static<Schema>) => Result,
): Promise<Result> {
  const given = await readAll(streams, 'Type the JSON object, then Ctrl-D')
  return refusing(
    (message) => message,
    () => {
      const document = parse(given)
      // Checked first: a required field may only seem to be missing because its name is misspelt.
      refuseUnknown(schema, document)
      return read(check(schema, document, 'Standard input'))
    },
  )
}

/** Reads a password from standard input: all of it but the end of its line. */
export async function readPassword(streams: Streams): Promise<string> {
  const given = await readAll(streams, 'Type the password, then Enter and Ctrl-D (it shows)')
  return given.replace(/\r?\n$/, '')
}

/** An option as a number where it is written as one; what it is otherwise is for its rule to refuse. */
export function toNumber(option: string | undefined): string | number | undefined {
  return option !== undefined && /^-?\d{1,15}$/.test(option) ? Number(option) : option
}

/** The items of a comma list; undefined when the option was not given. */
export function toList(option: string | undefined): string[] | undefined {
  return option?.split(',').map((item) => item.trim())
}

function check<Schema extends TSchema>(schema: Schema, given: unknown, source: string): Static<Schema> {
  const problem = findInputProblem(compileSchema(schema), schema, given, source)
  if (problem) throw problem
  return given as Static<Schema>
}

function refuseUnknown(schema: TSchema, document: unknown): void {
  const [unknown] = compileUnknownFields(schema)(document)
  if (unknown) throw new Problem('invalid_field', describeUnknown('field', unknown))
}

function refusing<Result>(reword: (message: string) => string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof Problem) throw new CliFailure(2, reword(error.message))
    throw error
  }
}

/** Messages begin with the field that they are about. */
function nameOption(message: string): string {
  return message.replace(/^(\w+)(\[\d+\])?/, (_path, field: string) => OPTION_OF_FIELD[field] ?? `--${field}`)
}

function parse(given: string): unknown {
  try {
    return JSON.parse(given)
  } catch (error) {
    throw new CliFailure(2, `Standard input is not JSON: ${(error as Error).message}`)
  }
}

function readAll({ stdin, stderr }: Streams, prompt: string): Promise<string> {
  if (stdin.isTTY) stderr.write(`${prompt}:\n`)
  return text(stdin)
}
