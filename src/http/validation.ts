import type { ErrorObject } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { JsonObject } from '../lib/text/json.js'
import { firstUnstorable } from '../lib/text/text.js'
import {
  compileSchema,
  explainError,
  findInputProblem,
  type InputSchema,
  type SchemaCheck,
  toFieldPath,
} from '../model/input.js'
import { Problem } from '../model/problem.js'
import { toEnglish } from '../model/sentence.js'

/** The parts of a JSON Schema that the checks read. */
interface Schema extends InputSchema {
  properties?: Record<string, InputSchema>
}

/** Compiles the schemas of bodies, queries and paths into checks that fail with a problem. */
export const compileValidator: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) => {
  const check = compileSchema(schema)
  if (httpPart === 'body') return (data: unknown) => checkBody(check, schema, data)
  if (httpPart === 'params') return (data: unknown) => checkPath(check, data)
  return (data: unknown) => checkQuery(check, schema, data as JsonObject)
}

type Checked = { value: unknown } | { error: Problem }

function checkBody(check: SchemaCheck, schema: Schema, given: unknown): Checked {
  // Without a body (null), an empty one is assumed if no field is required.
  const data = given === null && !schema.required?.length ? {} : given
  const error = findInputProblem(check, schema, data, 'The request body')
  return error ? { error } : { value: data }
}

/** A parameter of a path is always the id of a resource, so an invalid one is not found. */
function checkPath(check: SchemaCheck, data: unknown): Checked {
  const error = check(data)
  if (error === null) return { value: data }
  const name = `${toFieldPath(error.instancePath, data)} "${shorten(error.data)}" in the path`
  return { error: new Problem('not_found', toEnglish(explainError(error, name))) }
}

function checkQuery(check: SchemaCheck, schema: Schema, query: JsonObject): Checked {
  const typed = readQuery(schema, query)
  for (const [name, value] of Object.entries(typed)) {
    if (firstUnstorable(value) === undefined) continue
    return { error: new Problem('invalid_parameter', `${name} holds a character that cannot be stored`) }
  }
  const error = check(typed)
  if (error === null) return { value: typed }
  if (error.keyword === 'required') {
    return { error: new Problem('missing_parameter', `${error.params.missingProperty} query parameter is required`) }
  }
  return { error: new Problem('invalid_parameter', explainParameter(error, query)) }
}

function explainParameter(error: ErrorObject, query: JsonObject): string {
  const name = toFieldPath(error.instancePath, query)
  if (Array.isArray(query[name])) return `${name} is given ${query[name].length} times: give it once`
  return `${toEnglish(explainError(error, name))}, not "${shorten(query[name])}"`
}

/** A query contains only text; numbers and booleans of the schema are converted. */
function readQuery(schema: Schema, query: JsonObject): JsonObject {
  const typed: JsonObject = { ...query }
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const text = query[name]
    if (typeof text !== 'string') continue
    if (type === 'integer' && /^-?\d{1,15}$/.test(text)) typed[name] = Number(text)
    if (type === 'boolean' && (text === 'true' || text === 'false')) typed[name] = text === 'true'
  }
  return typed
}

function shorten(value: unknown): string {
  const text = String(value)
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}
