import { Ajv, type ValidateFunction } from 'ajv'
import type { Answer, World } from './world.js'

interface Operation {
  responses: Record<string, { content?: { 'application/json'?: { schema: object } } }>
}

/** The part of an OpenAPI document that tests look at. */
export interface Description {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
}

// The formats are checked loosely: what they mean is the service's own matter.
const ajv = new Ajv({ strict: false, allErrors: true })
ajv.addFormat('uuid', /^[0-9a-f-]{36}$/)
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** The service's description of Interface A. */
export async function readDescription(world: World): Promise<Description> {
  return (await world.request('GET', '/openapi.json')).body
}

/** Every operation of a description as `GET /contact`. */
export function operationsOf({ paths }: Description): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

/**
 * A world's `request` that also holds each answer to what /openapi.json says of it: a field that is missing, of another
 * type or not described throws.
 */
export async function requestAsDescribed(world: World): Promise<World['request']> {
  const description = await readDescription(world)
  const checks = new Map<object, ValidateFunction>()
  return async (method, path, options) => {
    const answer = await world.request(method, path, options)
    const schema = schemaOf(description, method, path, answer)
    const check = checks.get(schema) ?? ajv.compile(closed(schema))
    checks.set(schema, check)
    if (check(answer.body)) return answer
    throw new Error(
      `${method} ${path} ${answer.status}: ${ajv.errorsText(check.errors)} ${JSON.stringify(answer.body)}`,
    )
  }
}

function schemaOf({ paths }: Description, method: string, path: string, { status }: Answer): object {
  const pattern = path.replace(/\?.*$/s, '').replace(/\/[0-9a-f-]{36}(?=\/|$)/, '/{id}')
  const responses = paths[pattern]?.[method.toLowerCase()]?.responses
  const schema = (responses?.[status] ?? responses?.default)?.content?.['application/json']?.schema
  if (schema) return schema
  throw new Error(`${method} ${path}: an answer with status ${status} is not described`)
}

/** The schema without room for fields that it does not name. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === 'object' && value.properties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  )
}
