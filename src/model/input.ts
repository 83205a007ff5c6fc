import { hash } from 'node:crypto'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { readIsoTime } from '../lib/text/iso-time.js'
import { isDeeperThan, isJsonObject, type JsonObject } from '../lib/text/json.js'
import { excerpt, firstUnstorable } from '../lib/text/text.js'
import { Problem, type ProblemCode } from './problem.js'
import { type Sentence, sentence } from './sentence.js'
import { isWebAddress } from './web-address.js'

/** The parts of a JSON Schema that error messages need. */
export interface InputSchema {
  type?: string
  required?: string[]
  minimum?: number
  maximum?: number
  maxItems?: number
  description?: string
  properties?: Record<string, InputSchema>
  /** Says that the value must be present and not empty; the text of the error, or true to name its path. */
  'x-missing'?: string | true
  /** The sentence about a value that does not match the pattern, instead of the description. */
  'x-pattern'?: 'email' | 'shop_url'
  /** The problem to throw instead of missing_field, and an example body for its message. */
  'x-problem'?: ProblemCode
  'x-example'?: object
}

/** Deeper nesting is refused, so that recursive code is safe. */
const MAX_DEPTH = 32

// Values are not coerced, no defaults are filled in, and surplus fields are allowed. Lengths count code points.
const ajv = new Ajv({ strict: false, allErrors: false, verbose: true, discriminator: true })
ajv.addFormat('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i)
ajv.addFormat('date-time', (value: string) => readIsoTime(value) !== null)
ajv.addFormat('uri', (value: string) => URL.canParse(value))
ajv.addFormat('web-address', isWebAddress)

/** Finds the first thing that is wrong with a value; null if it matches the schema. */
export type SchemaCheck = (value: unknown) => ErrorObject | null

/** By the hash of the schema: many routes have the same one, and services of one process share all of theirs. */
const compiled = new Map<string, ValidateFunction>()

/**
 * The check of a JSON Schema with the formats uuid, date-time, uri and web-address. It is compiled for its first value: to
 * compile those of all routes took a quarter of a start.
 */
export function compileSchema(schema: object): SchemaCheck {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= compile(schema)
    return validate(value) ? null : (validate.errors as [ErrorObject])[0]
  }
}

function compile(schema: object): ValidateFunction {
  const key = hash('sha256', JSON.stringify(schema), 'base64')
  const known = compiled.get(key)
  if (known) return known
  const validate = ajv.compile(schema)
  compiled.set(key, validate)
  return validate
}

/**
 * Finds what is wrong with a JSON object: invalid_json, missing_field or invalid_field with the field's path and the
 * limit; null if it is valid. `source` names the object at the start of the sentence.
 */
export function findInputProblem(
  check: SchemaCheck,
  schema: InputSchema,
  data: unknown,
  source: string,
): Problem | null {
  if (!isJsonObject(data)) return new Problem('invalid_json', `${source} must be a JSON object`)
  const walked = walk(data, source)
  if (walked !== null) return walked
  const error = check(data)
  return error && fieldProblem(schema, data, error)
}

function walk(data: JsonObject, source: string): Problem | null {
  if (isDeeperThan(data, MAX_DEPTH)) {
    return new Problem('invalid_field', `${source} nests deeper than ${MAX_DEPTH} levels`)
  }
  const unstorable = firstUnstorable(data)
  if (unstorable === undefined) return null
  const message = `${unstorable} holds a character that cannot be stored (U+0000 or half of a surrogate pair)`
  return new Problem('invalid_field', message)
}

function fieldProblem(schema: InputSchema, data: JsonObject, error: ErrorObject): Problem {
  const field = toFieldPath(error.instancePath, data)
  const parent = error.parentSchema as InputSchema
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params.missingProperty)
      return missing(join(field, name), parent.properties?.[name])
    }
    case 'discriminator':
      return kindProblem(field, error)
    default:
      if (isEmpty(error.data) && (parent['x-missing'] || schema.required?.includes(field)))
        return missing(field, parent)
      return new Problem('invalid_field', explainError(error, field || 'the body'))
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || (Array.isArray(value) && value.length === 0)
}

function missing(path: string, schema: InputSchema | undefined): Problem {
  const words = schema?.['x-missing']
  const message = typeof words === 'string' ? words : `${path} is required and must not be empty`
  const example = schema?.['x-example']
  return new Problem(schema?.['x-problem'] ?? 'missing_field', message, example === undefined ? {} : { example })
}

/** The field that distinguishes several kinds of object is missing or has an unknown value. */
function kindProblem(field: string, { params, parentSchema }: ErrorObject): Problem {
  const { tag, tagValue } = params as { tag: string; tagValue: unknown }
  const path = join(field, tag)
  if (tagValue === undefined || isEmpty(tagValue)) return missing(path, undefined)
  if (typeof tagValue !== 'string') return new Problem('invalid_field', `${path} must be string`)
  const kinds = (parentSchema as { oneOf: { properties: Record<string, { const: string }> }[] }).oneOf
  const names = kinds.map(({ properties }) => properties[tag]?.const).join(', ')
  const code = path === 'message_type' ? 'invalid_message_type' : 'invalid_field'
  return new Problem(code, `${path} "${excerpt(tagValue)}" is not one of ${names}`)
}

/** Describes what the value of a field must be. */
export function explainError(
  { keyword, params, schema, parentSchema, message, data }: ErrorObject,
  field: string,
): string | Sentence {
  const { type, minimum, maximum, description, 'x-pattern': pattern } = parentSchema as InputSchema
  if (type === 'integer' && minimum !== undefined && maximum !== undefined) {
    return sentence('whole_number', { field, minimum, maximum })
  }
  const { limit } = params
  switch (keyword) {
    case 'enum':
      return sentence('one_of', { field, names: (schema as unknown[]).map(String).join(', ') })
    case 'maxLength':
      return sentence('at_most', { field, limit })
    case 'minLength':
      return limit === 1 ? sentence('not_empty', { field }) : sentence('at_least', { field, limit })
    case 'maxItems':
      return sentence('items_at_most', { field, limit, given: (data as unknown[]).length })
    case 'minItems':
      return `${field} must have at least ${limit} items`
    case 'type':
      if (params.type === 'boolean') return `${field} must be true or false`
      return `${field} must be ${[params.type].flat().join(' or ')}`
    case 'format':
      if (params.format === 'web-address') return `${field} must be an http or https address`
      return params.format === 'uri' ? sentence('uri', { field }) : `${field} must be a valid ${params.format}`
    case 'pattern':
      if (pattern) return sentence(pattern, { field })
      return `${field} ${description ?? `must match ${params.pattern}`}`
    default:
      return `${field} ${message ?? 'is not valid'}`
  }
}

/** Converts a JSON pointer to a path as people write it: /contacts/0/name → contacts[0].name */
export function toFieldPath(pointer: string, data: unknown): string {
  const parts = pointer.split('/').slice(1)
  let path = ''
  let parent = data
  for (const part of parts.map((escaped) => escaped.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    path = Array.isArray(parent) ? `${path}[${part}]` : join(path, part)
    parent = (parent as JsonObject)[part]
  }
  return path
}

function join(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`
}
