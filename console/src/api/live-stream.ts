import { api, apiUrl } from './client.js'

/** A message of the stream: an event (JSON) with its position, a notice that loaded data may be stale, or the connection's state. */
export type StreamMessage = { event: string; position: string } | { stale: true } | { isConnected: boolean }

/** Whose events the stream carries, and the position after which it starts. */
export interface StreamOptions {
  organizationId: string
  memberId: string
  from: string
}

/** Delay before a stream that the service refused, for example during a restart, is opened again. */
const REOPEN_MS = 2_000

/**
 * Calls `onMessage` with every message until the result is called. Tabs of one browser and member share one connection: the tab
 * that holds it passes its messages on, since browsers limit the connections to a host.
 */
export function openLiveStream(
  { organizationId, memberId, from }: StreamOptions,
  onMessage: (message: StreamMessage) => void,
): () => void {
  // Locks need a secure context. Without one, each tab has its own connection.
  if (!('locks' in navigator)) return connect(memberId, from, onMessage)
  const name = `parley.live.${organizationId}.${memberId}`
  const closing = new AbortController()
  const others = new BroadcastChannel(name)
  let position = from
  const receive = (message: StreamMessage) => {
    if ('position' in message) position = message.position
    onMessage(message)
  }
  others.onmessage = ({ data }: MessageEvent<StreamMessage>) => receive(data)
  const holdConnection = () =>
    new Promise<void>((resolve) => {
      // The lock may be granted after the stream was closed.
      if (closing.signal.aborted) return resolve()
      const close = connect(memberId, position, (message) => {
        others.postMessage(message)
        receive(message)
      })
      closing.signal.addEventListener('abort', () => {
        close()
        resolve()
      })
    })
  // Rejected only when aborted.
  navigator.locks.request(name, { signal: closing.signal }, holdConnection).catch(() => undefined)
  return () => {
    closing.abort()
    others.close()
  }
}

/** Connects after a position. The browser reconnects by itself, except after the service refused the stream. */
function connect(memberId: string, from: string, onMessage: (message: StreamMessage) => void): () => void {
  let position = from
  let source = open()
  let timer: number | undefined

  function open(): EventSource {
    const stream = new EventSource(apiUrl('/live', { member_id: memberId, last_event_id: position }))
    const keepPosition = ({ lastEventId }: MessageEvent<string>) => {
      position = lastEventId
      return lastEventId
    }
    stream.onmessage = (message: MessageEvent<string>) =>
      onMessage({ event: message.data, position: keepPosition(message) })
    stream.addEventListener('reset', (message) => {
      keepPosition(message)
      onMessage({ stale: true })
    })
    stream.onopen = () => onMessage({ isConnected: true })
    stream.onerror = () => {
      onMessage({ isConnected: false })
      if (stream.readyState === EventSource.CLOSED) timer = window.setTimeout(reopen, REOPEN_MS)
    }
    return stream
  }

  function reopen(): void {
    // If the session has ended or belongs to another member, this request makes the page sign out or reload.
    api.get('/session').catch(() => undefined)
    source = open()
  }

  return () => {
    window.clearTimeout(timer)
    source.close()
  }
}
