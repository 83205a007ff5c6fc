import type { Example, Examples } from '../../../src/http/description/examples.js'
import type { Answer, World } from '../../support/world.js'

/** A request to record, by its operationId. */
export interface Recorded {
  name?: string
  path?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  headers?: Record<string, string>
}

export interface Recorder {
  /** Sends the request of the operation, and keeps it with its answer. */
  record(operationId: string, request?: Recorded): Promise<Answer>
  /** The body of a webhook's request. */
  keep(operationId: string, body: unknown): void
  /** What was recorded, as a module; ids, times and secrets are the same each time. */
  print(replacements: Record<string, string>): string
}

interface Described {
  paths: Record<string, Record<string, { operationId: string }>>
}

/** Records requests of one interface, with a key. */
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
  return {
    record: async (operationId, { name, path = {}, query, body, headers = {} } = {}) => {
      const route = byId.get(operationId)
      if (!route) throw new Error(`there is no operation ${operationId}`)
      const filled = route.path.replace(/\{(\w+)\}/g, (_match, parameter: string) => String(path[parameter]))
      const url = query ? `${filled}?${new URLSearchParams(query)}` : filled
      const answer = await world.request(route.method, url, { key, body, headers })
      add(operationId, {
        name: name ?? (answer.status < 300 ? 'example' : 'refused'),
        ...(Object.keys(path).length > 0 && { path }),
        ...(query && { query }),
        ...(body !== undefined && { body }),
        status: answer.status,
        answer: answer.body,
      })
      return answer
    },
    keep: (operationId, body) => add(operationId, { name: 'example', body, status: 0, answer: null }),
    print: (replacements) => print(recorded, { [world.app.url]: 'https://parley.example', ...replacements }),
  }
}

const HEAD = `// biome-ignore-all format: recorded by test/interfaces/description/examples.test.ts; \`npx vitest run -u\` with it records again
import type { Examples } from '../../http/description/examples.js'

`

function print(examples: Examples, replacements: Record<string, string>): string {
  let text = JSON.stringify(examples, null, 1)
  for (const [from, to] of Object.entries(replacements)) text = text.replaceAll(from, to)
  return `${HEAD}export const examples: Examples = ${settled(text)}\n`
}

/** The text with everything that differs from run to run replaced, the same value always by the same one. */
function settled(text: string): string {
  return [
    [
      /(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])/g,
      (n: number) => uuid(n),
    ],
    [/wamid\.[\w+/=-]+/g, (n: number) => `wamid.EXAMPLE${n}`],
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, () => '2026-03-02T09:00:00.000Z'],
    [/whsec_[\w+/=]+/g, () => 'whsec_EXAMPLE'],
    [/parley_[\w-]{12,}/g, () => 'parley_EXAMPLE'],
    [/(?<="prefix": ")[^"]+/g, () => 'parley_EXAM'],
    [/(?<="(?:duration_ms)": )\d+/g, () => '42'],
    [/(?<="messageTimestamp": )\d+/g, () => '1772442000'],
    [/(?<="next_after": ")[^"]+/g, () => 'MToxMjovLw'],
    [/(?<=sign-in#)[^"]+/g, () => 'TOKEN'],
    [/(?<="(?:hash|token)": ")[^"]+/g, () => 'TOKEN-OF-THE-INSTANCE'],
  ].reduce((result, [pattern, replace]) => {
    const seen = new Map<string, string>()
    return result.replaceAll(pattern as RegExp, (match) => {
      const known = seen.get(match) ?? (replace as (n: number) => string)(seen.size + 1)
      seen.set(match, known)
      return known
    })
  }, text)
}

function uuid(n: number): string {
  return `01a20000-0000-7000-8000-${String(n).padStart(12, '0')}`
}
