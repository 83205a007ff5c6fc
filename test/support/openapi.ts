import { Ajv, type ValidateFunction } from 'ajv'
import type { Answer, RequestOptions, World } from './world.js'

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}

/** The part of an OpenAPI document that tests look at. */
export interface Description {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

/** The paths of all descriptions; the most specific ones come last. */
export const DESCRIPTIONS = ['/openapi.json', '/gateway/openapi.json', '/docs/admin.json'] as const

/**
 * Compares an answer with its description. Returns false if no description has the path and method; throws if it
 * differs.
 */
export type AnswerCheck = (method: string, path: string, answer: Answer) => boolean

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

let sharedCheck: Promise<AnswerCheck> | null = null

/** The check of the answers of all interfaces; the descriptions are read once per process. */
export function answerCheck(read: (path: string) => Promise<Answer>): Promise<AnswerCheck> {
  sharedCheck ??= Promise.all(DESCRIPTIONS.map(async (path) => (await read(path)).body)).then(createCheck)
  return sharedCheck
}

/** A world's `request` that refuses requests that no description has; all others are checked by the world. */
export function requestAsDescribed(world: Pick<World, 'request'>): World['request'] {
  return async (method: string, path: string, options?: RequestOptions) => {
    const answer = await world.request(method, path, options)
    const check = await answerCheck((described) => world.request('GET', described))
    if (check(method, path, answer)) return answer
    throw new Error(`${method} ${path} is not described`)
  }
}

/** Formats are checked loosely, because their meaning is up to the service. */
export function createAjv(): Ajv {
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false })
  ajv.addFormat('uuid', /^[0-9a-f-]{36}$/)
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  ajv.addFormat('binary', true)
  ajv.addFormat('uri', true)
  ajv.addFormat('web-address', true)
  return ajv
}

function createCheck(descriptions: Description[]): AnswerCheck {
  const ajv = createAjv()
  const routes = descriptions.flatMap((description, index) => {
    const name = `description-${index}`
    ajv.addSchema(closed(description), name)
    return Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        // A literal path segment takes precedence over a parameter.
        rank: path.split('{').length,
        pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
        pointer: `${name}#/paths/${escaped(path)}/${method}/responses`,
        responses,
      })),
    )
  })
  routes.sort((a, b) => a.rank - b.rank)
  const checks = new Map<string, ValidateFunction>()
  return (method, url, { status, headers, body }) => {
    const path = url.replace(/[?#].*$/s, '')
    const route = routes.find((one) => one.method === method && one.pattern.test(path))
    if (!route) return false
    const key = route.responses[status] ? String(status) : 'default'
    const response = route.responses[key]
    if (!response) throw new Error(`${method} ${path}: an answer with status ${status} is not described`)
    const type = headers.get('content-type')?.split(';')[0]
    if (type !== 'application/json') {
      const described = Object.keys(response.content ?? {})
      if (!described.includes('application/json') || (type !== undefined && described.includes(type))) return true
      throw new Error(`${method} ${url} ${status} is ${type ?? 'without a type'}, not ${described.join(' or ')}`)
    }
    const pointer = `${route.pointer}/${key}/content/application~1json/schema`
    const check = checks.get(pointer) ?? ajv.compile({ $ref: pointer })
    checks.set(pointer, check)
    if (check(body)) return true
    throw new Error(
      `${method} ${url} ${status} is not as described: ${ajv.errorsText(check.errors)} ${JSON.stringify(body)}`,
    )
  }
}

function escaped(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** A description, or a schema, without additional properties. */
export function closed<Value>(description: Value): Value {
  return JSON.parse(JSON.stringify(description), (_key, value) =>
    [value?.type].flat().includes('object') && value.properties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  )
}
