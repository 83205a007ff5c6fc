import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { isDeeperThan, isJsonObject, type JsonObject } from '../lib/json.js'
import { firstUnstorable } from '../lib/text.js'
import { Problem } from '../model/problem.js'

/** What the validator needs to see of a JSON Schema. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  enum?: unknown[]
  minimum?: number
  maximum?: number
}

/** Nesting that no honest request needs, and that recursive code further on need not fear. */
const MAX_DEPTH = 32

// Nothing is coerced, no default filled in, surplus fields are let through (contract 4). Lengths count code points.
const ajv = new Ajv({ strict: false, allErrors: false, verbose: true })
ajv.addFormat('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i)
ajv.addFormat(
  'date-time',
  (value: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value)),
)
ajv.addFormat('uri', (value: string) => URL.canParse(value))

/** Compiles the schemas of bodies, queries and paths into checks that fail with a problem (contract 4's names). */
export const compileValidator: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) => {
  const validate = ajv.compile(schema)
  if (httpPart === 'body') return (data: unknown) => checkBody(validate, schema, data)
  if (httpPart === 'params') return (data: unknown) => checkPath(validate, data)
  return (data: unknown) => checkQuery(validate, schema, data as JsonObject)
}

type Checked = { value: unknown } | { error: Problem }

function checkBody(validate: ValidateFunction, schema: Schema, given: unknown): Checked {
  // No body at all is an empty one where nothing is required.
  const data = given === undefined && !schema.required?.length ? {} : given
  if (!isJsonObject(data)) {
    return { error: new Problem('invalid_json', 'The request body must be a JSON object') }
  }
  if (isDeeperThan(data, MAX_DEPTH)) {
    return { error: new Problem('invalid_field', `The request body nests deeper than ${MAX_DEPTH} levels`) }
  }
  const unstorable = firstUnstorable(data)
  if (unstorable !== undefined) {
    const message = `${unstorable} holds a character that cannot be stored (U+0000 or half of a surrogate pair)`
    return { error: new Problem('invalid_field', message) }
  }
  if (validate(data)) return { value: data }
  const [error] = validate.errors as [ErrorObject]
  return { error: bodyProblem(schema, error) }
}

function bodyProblem(schema: Schema, error: ErrorObject): Problem {
  const field = toPath(error.instancePath)
  if (error.keyword === 'required') {
    return new Problem('missing_field', `${join(field, String(error.params.missingProperty))} is required`)
  }
  if ((error.data === '' || error.data === null) && schema.required?.includes(field)) {
    return new Problem('missing_field', `${field} is required and must not be empty`)
  }
  return new Problem('invalid_field', `${field || 'the body'} ${explain(error)}`)
}

/** No path of ours has a parameter that other than an existing thing's id could fill. */
function checkPath(validate: ValidateFunction, data: unknown): Checked {
  if (validate(data)) return { value: data }
  const [error] = validate.errors as [ErrorObject]
  const name = toPath(error.instancePath)
  return { error: new Problem('not_found', `${name} "${shorten(error.data)}" in the path ${explain(error)}`) }
}

function checkQuery(validate: ValidateFunction, schema: Schema, query: JsonObject): Checked {
  const typed = readQuery(schema, query)
  for (const [name, value] of Object.entries(typed)) {
    if (firstUnstorable(value) === undefined) continue
    return { error: new Problem('invalid_parameter', `${name} holds a character that cannot be stored`) }
  }
  if (validate(typed)) return { value: typed }
  const [error] = validate.errors as [ErrorObject]
  if (error.keyword === 'required') {
    return { error: new Problem('missing_parameter', `${error.params.missingProperty} query parameter is required`) }
  }
  const name = toPath(error.instancePath)
  return { error: new Problem('invalid_parameter', `${name} ${explain(error)}, not "${shorten(query[name])}"`) }
}

/** A query holds only text: what its schema calls a number or a boolean is read as one where it is written as one. */
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

/** What a value should have been, for the person who sent it. */
function explain({ keyword, params, schema, parentSchema, message }: ErrorObject): string {
  const { type, minimum, maximum } = parentSchema as Schema
  if (type === 'integer' && minimum !== undefined && maximum !== undefined) {
    return `must be a whole number from ${minimum} to ${maximum}`
  }
  switch (keyword) {
    case 'enum':
      return `must be one of ${(schema as unknown[]).map(String).join(', ')}`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxItems':
      return `must have at most ${params.limit} items`
    case 'minItems':
      return `must have at least ${params.limit} items`
    case 'type':
      return `must be ${describeType(params.type)}`
    case 'format':
      return `must be a valid ${params.format}`
    case 'pattern':
      return (parentSchema as { description?: string }).description ?? `must match ${params.pattern}`
    default:
      return message ?? 'is not valid'
  }
}

function describeType(type: string | string[]): string {
  return [type].flat().join(' or ')
}

/** /contacts/0/name → contacts[0].name */
function toPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) && path !== '' ? `${path}[${part}]` : join(path, part)), '')
}

function join(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`
}

function shorten(value: unknown): string {
  const text = String(value)
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}
