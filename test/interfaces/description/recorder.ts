import type { Example, Examples } from '../../../src/http/description/examples.js'
import type { Answer, World } from '../../support/world.js'
import { withStableValues } from './stable-values.js'

/** A request to record. */
export interface Recorded {
  path?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  headers?: Record<string, string>
  /** In place of the recorder's key. */
  key?: string
}

export interface Recorder {
  /** Sends the request of an operation, which must succeed, and keeps it with its answer. Once for each status and type of answer. */
  record(operationId: string, request?: Recorded): Promise<Answer>
  /** Sends a request that must be refused, and keeps the answer. Once for each operation. */
  refuse(operationId: string, request?: Recorded): Promise<Answer>
  /** Keeps the body of a webhook's request. */
  keep(operationId: string, body: unknown): void
  /**
   * What was recorded, in the order of the operationIds: ids, times and secrets are the same each time, and so is what
   * `replacements` name. Each example counts its ids from 1, so that a change of one changes no other.
   */
  result(replacements: Record<string, string>): Examples
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
    const others = recorded[operationId] ?? []
    if (others.some((other) => kindOf(other) === kindOf(example)))
      throw new Error(`${operationId} has an example already`)
    recorded[operationId] = [...others, example].sort(byStatus)
  }
  const send = async (operationId: string, { path = {}, query, body, headers = {}, ...given }: Recorded) => {
    const route = byId.get(operationId)
    if (!route) throw new Error(`there is no operation ${operationId}`)
    const filled = route.path.replace(/\{(\w+)\}/g, (_match, parameter: string) => String(path[parameter]))
    const url = query ? `${filled}?${new URLSearchParams(query)}` : filled
    const answer = await world.request(route.method, url, { key, body, headers, ...given })
    const request = {
      ...(Object.keys(path).length > 0 && { path }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
    }
    add(operationId, { ...(answer.status < 400 && request), status: answer.status, answer: answer.body })
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
    keep: (operationId, body) => add(operationId, { body }),
    result: (replacements) => {
      const all = { [world.app.url]: 'https://parley.example', ...replacements }
      const sorted = Object.entries(recorded).sort(([one], [other]) => (one < other ? -1 : 1))
      return Object.fromEntries(
        sorted.map(([operationId, examples]) => [operationId, examples.map((one) => withStableValues(one, all))]),
      )
    },
  }
}

/** An answer of success by its status, as JSON or as a file; or an error. */
function kindOf({ status = 200, answer }: Example): string {
  return status < 400 ? `${status} ${typeof answer}` : 'error'
}

function byStatus(one: Example, other: Example): number {
  return (one.status ?? 0) - (other.status ?? 0)
}
