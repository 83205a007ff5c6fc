import { api, apiUrl } from './client.js'

/** What the stream brings: an event (JSON) with its position, that what has been loaded may be stale, or whether it is there. */
export type News = { event: string; position: string } | { stale: true } | { isConnected: boolean }

/** Whose events are heard, and from which position on. */
export interface Hearing {
  organizationId: string
  memberId: string
  from: string
}

/** How soon a stream that the service refused, as while it starts anew, is asked for again. */
const AGAIN_MS = 2_000

/**
 * Hears of everything that happens, until the result is called. Of the tabs that one browser has open for the same member only one
 * holds a connection and hands on what it hears, for browsers open few of them to one host.
 */
export function openLive({ organizationId, memberId, from }: Hearing, tell: (news: News) => void): () => void {
  // Without a secure context there is no such lock: then each tab has a connection of its own.
  if (!('locks' in navigator)) return holdStream(memberId, from, tell)
  const name = `parley.live.${organizationId}.${memberId}`
  const closing = new AbortController()
  const others = new BroadcastChannel(name)
  let position = from
  const take = (news: News) => {
    if ('position' in news) position = news.position
    tell(news)
  }
  others.onmessage = ({ data }: MessageEvent<News>) => take(data)
  const hold = () =>
    new Promise<void>((resolve) => {
      // The lock may have been given at the moment in which it was no longer wanted.
      if (closing.signal.aborted) return resolve()
      const close = holdStream(memberId, position, (news) => {
        others.postMessage(news)
        take(news)
      })
      closing.signal.addEventListener('abort', () => {
        close()
        resolve()
      })
    })
  // Refused only when it is no longer wanted.
  navigator.locks.request(name, { signal: closing.signal }, hold).catch(() => undefined)
  return () => {
    closing.abort()
    others.close()
  }
}

/** Holds a connection, from a position on; the browser itself goes on where it broke, except where the service refused it. */
function holdStream(memberId: string, from: string, tell: (news: News) => void): () => void {
  let position = from
  let source = open()
  let timer: number | undefined

  function open(): EventSource {
    const stream = new EventSource(apiUrl('/live', { member_id: memberId, last_event_id: position }))
    const at = ({ lastEventId }: MessageEvent<string>) => {
      position = lastEventId
      return lastEventId
    }
    stream.onmessage = (message: MessageEvent<string>) => tell({ event: message.data, position: at(message) })
    stream.addEventListener('reset', (message) => {
      at(message)
      tell({ stale: true })
    })
    stream.onopen = () => tell({ isConnected: true })
    stream.onerror = () => {
      tell({ isConnected: false })
      if (stream.readyState === EventSource.CLOSED) timer = window.setTimeout(again, AGAIN_MS)
    }
    return stream
  }

  function again(): void {
    // Where the session has ended, or is another's, the page hears of it by this, and has no use for a stream any more.
    api.get('/session').catch(() => undefined)
    source = open()
  }

  return () => {
    window.clearTimeout(timer)
    source.close()
  }
}
