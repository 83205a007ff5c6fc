import { expect } from 'vitest'
import type { Database } from '../../../src/database/pool.js'
import type { TestOrganization } from '../../support/world.js'
import { type Service, succeed } from './service.js'
import { type Arrival, isSuccess, type Witness } from './webhook-witness.js'

/** An event as the feed shows it. */
export interface FeedEvent {
  id: string
  type: string
  timestamp: string
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  data: any
}

/** A delivery as the log shows it, as far as it is looked at here. */
export interface LoggedDelivery {
  id: string
  webhook_id: string
  event_id: string
  status: string
  attempts: { at: string; response_status: number | null; error: string | null }[]
  next_attempt_at: string | null
}

/** A reader of the pull feed, who goes on where the last page ended. */
export interface FeedReader {
  events: FeedEvent[]
  /** Reads all that is there by now. */
  readOn(service: Service): Promise<void>
}

const EVENTS_A_PAGE = 500
const DELIVERIES_A_PAGE = 100

/** A reader from the beginning of the feed. */
export function createFeedReader({ key }: TestOrganization): FeedReader {
  const events: FeedEvent[] = []
  let after = ''
  return {
    events,
    readOn: async (service) => {
      for (let count = EVENTS_A_PAGE; count === EVENTS_A_PAGE; ) {
        const path = `/events?limit=${EVENTS_A_PAGE}${after && `&after=${after}`}`
        const { body } = await succeed(service.request('GET', path, { key }))
        events.push(...body.events)
        after = body.next_after
        count = body.events.length
      }
    },
  }
}

/** All deliveries to a webhook, or to all webhooks, page by page, newest first. */
export async function readLog(service: Service, { key }: TestOrganization, webhookId = ''): Promise<LoggedDelivery[]> {
  const deliveries: LoggedDelivery[] = []
  for (let page = 1; ; page++) {
    const path = `/webhook-deliveries?limit=${DELIVERIES_A_PAGE}&page=${page}${webhookId && `&webhook_id=${webhookId}`}`
    const { body } = await succeed(service.request('GET', path, { key }))
    deliveries.push(...body.deliveries)
    if (!body.pagination.hasNextPage) {
      expect(deliveries).toHaveLength(body.pagination.totalDeliveries)
      return deliveries
    }
  }
}

/** How many deliveries of the status there are. */
export async function countDeliveries(service: Service, { key }: TestOrganization, status: string): Promise<number> {
  const { body } = await succeed(service.request('GET', `/webhook-deliveries?status=${status}&limit=1`, { key }))
  return body.pagination.totalDeliveries
}

/**
 * Makes deliveries due that wait 5 minutes after a second failure. Call it while no process delivers.
 */
export async function letSecondRetriesFallDue({ pool }: Database): Promise<void> {
  await pool.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now()
     WHERE status = 'pending' AND next_attempt_at > now() AND jsonb_array_length(attempts) >= 2`,
  )
}

/**
 * Every event has come to the endpoint as the feed shows it, and it has taken each. A contact is as it was at the attempt,
 * and may have changed since.
 */
export function expectAllTaken({ arrivals, taken }: Witness, feed: readonly FeedEvent[]): void {
  const texts = new Map(feed.map((event) => [event.id, withoutContact(event)]))
  expect([...texts.keys()].filter((id) => !taken.has(id))).toEqual([])
  expect(arrivals.filter(({ eventId, text }) => texts.get(eventId) !== withoutContact(JSON.parse(text)))).toEqual([])
}

/** All that an event shows, of its contact only the id. */
function withoutContact({ type, timestamp, data }: Omit<FeedEvent, 'id'>): string {
  return JSON.stringify({ type, timestamp, data: { ...data, contact: data.contact?.id } })
}

/**
 * Of each contact the events have come one after the other, in the order of the feed, each not before the last one was
 * taken.
 */
export function expectInOrder({ arrivals }: Witness, feed: readonly FeedEvent[]): void {
  const wanted = groupBy(feed, ({ data }) => data.contact.id as string)
  for (const [contactId, ofContact] of groupBy(arrivals, (arrival) => arrival.contactId)) {
    const ends = ofContact.filter(({ eventId }, index) => ofContact[index + 1]?.eventId !== eventId)
    expect(ends.map(({ eventId }) => eventId)).toEqual(wanted.get(contactId)?.map(({ id }) => id))
    expect(ends.filter(({ status }) => !isSuccess(status))).toEqual([])
    const tooEarly = ofContact.filter(
      ({ eventId, arrivedAt }, index) =>
        index > 0 && ofContact[index - 1]?.eventId !== eventId && arrivedAt < (ofContact[index - 1]?.answeredAt ?? 0),
    )
    expect(tooEarly).toEqual([])
  }
}

/**
 * The log of an endpoint is what the endpoint saw: each event has one delivery, which was delivered, with an attempt
 * for each request and its answer. Only what a process had in its hands when it was killed may be missing: of a
 * contact, the last request that it made. Resolves to how many are missing.
 */
export function expectSameInLog(
  { arrivals }: Witness,
  feed: readonly FeedEvent[],
  log: readonly LoggedDelivery[],
): number {
  expect(log.map((delivery) => delivery.event_id).sort()).toEqual(feed.map(({ id }) => id).sort())
  expect(log.filter(({ status, next_attempt_at }) => status !== 'delivered' || next_attempt_at !== null)).toEqual([])
  const cutOff = findCutOff(arrivals)
  const byEvent = groupBy(arrivals, ({ eventId }) => eventId)
  const wrong = log.filter(({ event_id, attempts }) => !agree(byEvent.get(event_id) ?? [], answersOf(attempts), cutOff))
  expect(wrong).toEqual([])
  expect(log.filter(({ attempts }) => !isSuccess(attempts.at(-1)?.response_status ?? null))).toEqual([])
  return arrivals.length - log.flatMap(({ attempts }) => answersOf(attempts)).length
}

/** The last request for each contact that each of the killed processes made. */
function findCutOff(arrivals: readonly Arrival[]): Set<Arrival> {
  const living = arrivals.at(-1)?.lifetime
  const last = new Map(arrivals.map((arrival) => [`${arrival.contactId} ${arrival.lifetime}`, arrival]))
  return new Set([...last.values()].filter(({ lifetime }) => lifetime !== living))
}

/** Whether the answers are those of the requests, but for some that were cut off. */
function agree([first, ...others]: readonly Arrival[], answers: readonly number[], cutOff: Set<Arrival>): boolean {
  if (!first) return answers.length === 0
  const isLogged = first.status === answers[0] && agree(others, answers.slice(1), cutOff)
  return isLogged || (cutOff.has(first) && agree(others, answers, cutOff))
}

/** The statuses of the attempts to which there was an answer. */
function answersOf(attempts: LoggedDelivery['attempts']): number[] {
  return attempts.flatMap(({ response_status }) => (response_status === null ? [] : [response_status]))
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const known = groups.get(keyOf(item))
    if (known) known.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
