import type { Operation } from './document.js'

/** A request and its answer, as a test recorded them. */
export interface Example {
  /** What it shows, as a key: letters, digits and underscores. */
  name: string
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
  /** Absent from examples of webhooks, as is the answer. */
  status?: number
  answer?: unknown
}

/** Examples by operationId. */
export type Examples = Readonly<Record<string, readonly Example[]>>

/** Adds the examples of an operation to its parameters, its body and its answers. */
export function addExamples(operation: Operation, examples: readonly Example[]): void {
  for (const { name, path = {}, query = {}, body, status = 200, answer } of examples) {
    // A refused request is an example of its answer only.
    if (status < 400) {
      for (const parameter of operation.parameters ?? []) {
        const value = parameter.in === 'path' ? path[parameter.name] : query[parameter.name]
        if (value !== undefined) parameter.example ??= readValue(value, parameter.schema.type)
      }
      if (body !== undefined) addTo(operation.requestBody?.content, name, body)
    }
    if (answer !== undefined) addTo(operation.responses[status]?.content, name, answer)
  }
}

function readValue(text: string, type: unknown): unknown {
  return type === 'integer' || type === 'boolean' ? JSON.parse(text) : text
}

/** A text is an example of a file, everything else of JSON. */
function addTo(content: NonNullable<Operation['requestBody']>['content'] | undefined, name: string, value: unknown) {
  const media = content?.[typeof value === 'string' ? 'text/csv' : 'application/json']
  if (media) media.examples = { ...media.examples, [name]: { value } }
}
