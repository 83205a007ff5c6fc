import { text } from 'node:stream/consumers'
import type { Static, TSchema } from 'typebox'
import { compileSchema, findInputProblem } from '../model/input.js'
import { Problem } from '../model/problem.js'
import { compileUnknownFields, describeUnknown } from '../model/unknown-fields.js'
import { CliFailure } from './failure.js'
import type { Streams } from './invocation.js'

/** Options whose name differs from the field's. */
const OPTION_OF_FIELD: Record<string, string> = {
  default_country: '--country',
  attribution_window_days: '--attribution-window',
  retention_days: '--retention',
  message_retention_days: '--message-retention',
  media_retention_days: '--media-retention',
  full_name: '--name',
  expires_at: '--expires-at',
  overlap_seconds: '--overlap',
  send_to: '--send-to',
  phone_number_id: '--number',
  password: 'the password on standard input',
}

/**
 * Validates options with the admin API's rules for the same fields. Throws a CliFailure with code 2 that names the
 * option and the expected value.
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
 * Reads a JSON object from standard input and validates it with the admin API's rules. Throws a CliFailure with code 2
 * that names the invalid or unknown field.
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
      // Checked first, because a required field may seem to be missing only because its name is misspelt.
      refuseUnknown(schema, document)
      return read(check(schema, document, 'Standard input'))
    },
  )
}

/** Reads a password from standard input, without the line end. */
export async function readPassword(streams: Streams): Promise<string> {
  const given = await readAll(streams, 'Type the password, then Enter and Ctrl-D (it shows)')
  return given.replace(/\r?\n$/, '')
}

/** Converts an option that is written as a number; other values are left to the option's rule. */
export function toNumber(option: string | undefined): string | number | undefined {
  return option !== undefined && /^-?\d{1,15}$/.test(option) ? Number(option) : option
}

/** Converts a number of days, `off` to null. */
export function toDays(option: string | undefined): string | number | null | undefined {
  return option === 'off' ? null : toNumber(option)
}

/** The items of a comma-separated list; undefined without the option. */
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

/** Messages begin with the name of their field. */
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
