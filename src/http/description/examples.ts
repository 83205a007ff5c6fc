import type { Operation } from './document.js'

/** A request and its answer, as a test recorded them. */
export interface Example {
  /** What it shows, as a key: letters, digits and underscores. */
  name: string
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
  status: number
  answer: unknown
}

/** Examples by operationId; those of webhooks have a body and no answer. */
export type Examples = Readonly<Record<string, readonly Example[]>>

/** Adds the examples of an operation to its parameters, its body and its answers. */
export function addExamples(operation: Operation, examples: readonly Example[]): void {
  for (const { name, path = {}, query = {}, body, status, answer } of examples) {
    for (const parameter of operation.parameters ?? []) {
      const value = parameter.in === 'path' ? path[parameter.name] : query[parameter.name]
      if (value !== undefined) parameter.example ??= readValue(value, parameter.schema.type)
    }
    // What is refused is not an example of a request.
    if (body !== undefined && status < 400) addTo(operation.requestBody?.content, name, body)
    addTo(operation.responses[status]?.content, name, answer)
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
