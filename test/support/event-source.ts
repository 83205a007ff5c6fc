import type { World } from './world.js'

/** A received server-sent event; an event without data has only an id. */
export interface SentEvent {
  id: string
  type: string | null
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  data: any
}

/** A reader of GET /console/api/live. */
export interface EventSource {
  status: number
  headers: Headers
  /** The events so far, without comments. */
  events: SentEvent[]
  /** The number of received comments. */
  comments(): number
  /** Resolves when the service has ended it. */
  ended: Promise<void>
  close(): void
}

/** Connects as the page does, and resolves when the response has started. `url`: of another service. */
export async function openEventSource(
  { app }: Pick<World, 'app'>,
  cookie: string,
  { lastEventId, url = app.url }: { lastEventId?: string | undefined; url?: string } = {},
): Promise<EventSource> {
  const hangUp = new AbortController()
  const headers: Record<string, string> = { cookie, accept: 'text/event-stream' }
  if (lastEventId !== undefined) headers['last-event-id'] = lastEventId
  const response = await fetch(`${url}/console/api/live`, { headers, signal: hangUp.signal })
  const events: SentEvent[] = []
  let comments = 0
  const ended = read(response, (block) => {
    const event = readEvent(block)
    if (event !== null) events.push(event)
    else if (block.startsWith(':')) comments += 1
  })
  return {
    status: response.status,
    headers: response.headers,
    events,
    comments: () => comments,
    ended,
    close: () => hangUp.abort(),
  }
}

async function read({ body }: Response, take: (block: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) take(block)
    }
  } catch {
    // Either side may have ended it.
  }
}

function readEvent(block: string): SentEvent | null {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => [line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 2)]),
  )
  const id = fields.get('id')
  if (id === undefined) return null
  const data = fields.has('data') ? JSON.parse(fields.get('data') ?? '') : null
  return { id, type: fields.get('event') ?? data?.type ?? null, data }
}
