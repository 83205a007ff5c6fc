import type { Example, Examples } from '../../../src/http/description/examples.js'
import type { Answer, World } from '../../support/world.js'
import { withStableValues } from './stable-values.js'

/** A request to record. */
export interface Recorded {
  /** What it shows; without a name an answer of success is called `example`, and a refusal by its error. */
  name?: string
  path?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  headers?: Record<string, string>
  /** In place of the recorder's key. */
  key?: string
}

export interface Recorder {
  /** Sends the request of an operation, which must succeed, and keeps it with its answer. */
  record(operationId: string, request?: Recorded): Promise<Answer>
  /** The same of a request that must be refused. */
  refuse(operationId: string, request?: Recorded): Promise<Answer>
  /** Keeps the body of a webhook's request. */
  keep(operationId: string, body: unknown): void
  /**
   * What was recorded, by the first part of the operationIds: ids, times and secrets are the same each time, and so is
   * what `replacements` name.
   */
  result(replacements: Record<string, string>): Record<string, Examples>
}

interface Described {
  paths: Record<string, Record<string, { operationId: string }>>
}

/** Records requests of the interface that a description describes, with a key. */
export async function createRecorder(world: World, description: string, key: string): Promise<Recorder> {
  const { paths } = (await world.request('GET', description)).body as Described
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, { operationId }]) => [operationId, { method: method.toUpperCase(), path }] as const,
    ),
  )
  const byId = new Map(routes)
  const recorded: Record<string, Example[]> = {}
  const add = (operationId: string, example: Example) => {
    recorded[operationId] = [...(recorded[operationId] ?? []), example]
  }
  const send = async (operationId: string, { path = {}, query, body, headers = {}, ...given }: Recorded) => {
    const route = byId.get(operationId)
    if (!route) throw new Error(`there is no operation ${operationId}`)
    const filled = route.path.replace(/\{(\w+)\}/g, (_match, parameter: string) => String(path[parameter]))
    const url = query ? `${filled}?${new URLSearchParams(query)}` : filled
    const answer = await world.request(route.method, url, { key, body, headers, ...given })
    add(operationId, {
      name: given.name ?? nameOf(answer),
      ...(Object.keys(path).length > 0 && { path }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
      status: answer.status,
      answer: answer.body,
    })
    return answer
  }
  return {
    record: async (operationId, request = {}) => {
      const answer = await send(operationId, request)
      if (answer.status < 300) return answer
      throw new Error(`${operationId} was refused: ${answer.status} ${JSON.stringify(answer.body)}`)
    },
    refuse: async (operationId, request = {}) => {
      const answer = await send(operationId, request)
      if (answer.status >= 400) return answer
      throw new Error(`${operationId} was not refused: ${JSON.stringify(answer.body)}`)
    },
    keep: (operationId, body) => add(operationId, { name: 'example', body }),
    result: (replacements) =>
      byArea(withStableValues(recorded, { [world.app.url]: 'https://parley.example', ...replacements })),
  }
}

/** `contact_not_found` of the error "Contact not found". */
function nameOf({ status, body }: Answer): string {
  return status < 300 ? 'example' : String(body.error).toLowerCase().replaceAll(/\W+/g, '_')
}

function byArea(examples: Examples): Record<string, Examples> {
  const areas: Record<string, Record<string, readonly Example[]>> = {}
  for (const [operationId, list] of Object.entries(examples)) {
    const [area = ''] = operationId.split('.')
    areas[area] = { ...areas[area], [operationId]: list }
  }
  return areas
}
