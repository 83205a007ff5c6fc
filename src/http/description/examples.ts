import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../lib/files/package-root.js'
import type { Operation } from './document.js'

/** A request and its answer, as a test recorded them. Of a refusal only the answer; of a webhook only the body. */
export interface Example {
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
  status?: number
  answer?: unknown
}

/** Examples by operationId. */
export type Examples = Readonly<Record<string, readonly Example[]>>

/** Reads the recorded examples of an interface, which the package has as data. */
export function readExamples(name: string): Examples {
  return JSON.parse(readFileSync(join(packageRoot(), 'docs', 'examples', `${name}.json`), 'utf8'))
}

/** Adds the examples of an operation to its parameters, its body and its answers. */
export function addExamples(operation: Operation, examples: readonly Example[]): void {
  for (const { path = {}, query = {}, body, status = 200, answer } of examples) {
    for (const parameter of operation.parameters ?? []) {
      const value = parameter.in === 'path' ? path[parameter.name] : query[parameter.name]
      if (value !== undefined) parameter.example ??= readValue(value, parameter.schema.type)
    }
    if (body !== undefined) addTo(operation.requestBody?.content, body)
    if (answer !== undefined) addTo(operation.responses[status]?.content, answer)
  }
}

function readValue(text: string, type: unknown): unknown {
  return type === 'integer' || type === 'boolean' ? JSON.parse(text) : text
}

/** The types of the files that are recorded, which are tables and PDF; the last one is that of any file. */
const FILE_TYPES = ['text/csv', 'application/pdf', 'application/octet-stream']

/** A text is an example of a file, everything else of JSON. The first one stays. */
function addTo(content: NonNullable<Operation['requestBody']>['content'] | undefined, value: unknown) {
  const types = typeof value === 'string' ? FILE_TYPES : ['application/json']
  const type = types.find((one) => content?.[one])
  const media = type && content?.[type]
  if (media) media.example ??= value
}
