import type { FeedPage } from '../../core/webhooks/feed.js'
import type { EndpointAnswer, EndpointClient } from '../../endpoints/client.js'
import { sleep } from '../../lib/async/backoff.js'
import { inOneLine } from '../output.js'
import type { Following } from './follow.js'

/** An event as the feed gives it. */
export type FeedEvent = FeedPage['events'][number]

/** Where events are forwarded to, and how. */
export interface Forwarding extends Following {
  client: Pick<EndpointClient, 'post'>
  url: string
  secret: string
  clock: () => Date
  /** The waits between attempts. */
  waitsMs?: readonly number[]
}

const WAITS_MS = [1_000, 2_000, 5_000]

/** The body that an endpoint gets for an event. */
export function bodyOf({ id: _id, ...event }: FeedEvent): string {
  return JSON.stringify(event)
}

/** Posts an event and prints the answer of each attempt; gives up after some failures. */
export async function forwardEvent(
  event: FeedEvent,
  { client, url, secret, clock, print, signal, waitsMs = WAITS_MS }: Forwarding,
): Promise<void> {
  const body = bodyOf(event)
  for (const waitMs of [...waitsMs, null]) {
    const at = clock()
    const answer = await client.post({ url, secrets: [secret], id: event.id, at, body }, signal)
    await print(toLine(event, at, answer, waitMs))
    if (answer.outcome === 'delivered' || waitMs === null) return
    await sleep(waitMs, signal)
  }
}

function toLine(
  { type, id }: FeedEvent,
  at: Date,
  { outcome, status, error, durationMs }: EndpointAnswer,
  waitMs: number | null,
): string {
  const next = waitMs === null ? 'given up' : `again in ${waitMs / 1_000} s`
  const cells = [at.toTimeString().slice(0, 8), type, id, error ?? status, `${durationMs} ms`]
  return `${inOneLine([...cells, ...(outcome === 'delivered' ? [] : [next])].join('  '))}\n`
}
