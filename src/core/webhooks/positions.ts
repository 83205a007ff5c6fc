import { excerpt } from '../../lib/text/text.js'
import { Problem } from '../../model/problem.js'
import type { EventPosition } from '../../storage/events/events.js'
import type { EventHistories, EventHistory } from '../../storage/events/histories.js'

// A position counts in transaction ids of the server. After a restore to an earlier moment, or a failover that lost the
// last commits, the server uses ids again, for other transactions. So positions name their history, and a history says
// up to where those of earlier ones are valid.

/** A position with the history in which it was issued. */
export type MarkedPosition = EventPosition & { history: string }

/** In place of a position: the newest one. */
export const LATEST = 'latest'
/** Two snapshots in PostgreSQL's notation (`lowest:next:running,…`), a number, and a history. */
const POSITION = /^(?<from>[\d:,]+)\/(?<to>[\d:,]*)\/(?<seq>\d{0,15})\/(?<history>[0-9a-f]{12})$/
const SNAPSHOT = /^(\d{1,18}):(\d{1,18}):(\d{1,18}(?:,\d{1,18})*)?$/

/** A position of the newest history. */
export function markPosition(position: EventPosition, { all }: EventHistories): MarkedPosition {
  const newest = all.at(-1) as EventHistory
  return { ...position, history: newest.id }
}

/** The position as an opaque text. */
export function writePosition({ windowFrom, windowTo, seq, history }: MarkedPosition): string {
  return Buffer.from([windowFrom, windowTo ?? '', seq ?? '', history].join('/')).toString('base64url')
}

/** Reads a position text. Throws invalid_parameter. */
export function readPosition(after: string): MarkedPosition {
  const parts = POSITION.exec(Buffer.from(after, 'base64url').toString('latin1'))?.groups ?? {}
  const { from = '', to = '', seq, history = '' } = parts
  if (!isSnapshot(from) || (to !== '' && !isSnapshot(to))) {
    const message = `after "${excerpt(after)}" is not a position of the feed: give next_after of an answer, ${LATEST}, or leave it out`
    throw new Problem('invalid_parameter', message)
  }
  return { windowFrom: from, windowTo: to || null, seq: seq ? Number(seq) : null, history }
}

/**
 * Refuses a position of another database, and one that this database issued after the moment to which it was restored.
 * In the second case the message names a position to continue with. Throws invalid_parameter.
 */
export function checkHistory(position: MarkedPosition, histories: EventHistories): void {
  const { all } = histories
  const place = all.findIndex(({ id }) => id === position.history)
  if (place === -1) throw notOfThisDatabase()
  const [ended] = all
    .slice(place + 1)
    .map(({ known_to }) => known_to)
    .sort((one, other) => (isLater(one, other) ? 1 : -1))
  if (ended === undefined || !isLater(position.windowTo ?? position.windowFrom, ended)) return
  const safe = markPosition({ windowFrom: ended, windowTo: null, seq: null }, histories)
  throw new Problem(
    'invalid_parameter',
    `after is a position from before a backup was restored or a standby took over: continue with ${writePosition(safe)}, which repeats events of up to a few minutes before that moment`,
  )
}

/**
 * Refuses a position that this database cannot have issued, by comparing it with a newer one. Throws invalid_parameter.
 */
export function checkNotAhead(start: EventPosition, next: EventPosition): void {
  if (isLater(start.windowFrom, next.windowTo ?? next.windowFrom)) throw notOfThisDatabase()
}

/** True if one snapshot knows of transactions that had not started at the other. */
function isLater(one: string, other: string): boolean {
  const nextOf = (snapshot: string) => BigInt(snapshot.split(':')[1] ?? 0)
  return nextOf(one) > nextOf(other)
}

function notOfThisDatabase(): Problem {
  return new Problem(
    'invalid_parameter',
    'after is a position of another database, or from before a backup was restored: start again, without it or with latest',
  )
}

/** True if PostgreSQL accepts the snapshot: the running ids in rising order, between the lowest and the next. */
function isSnapshot(text: string): boolean {
  const [, lowest, next, running] = SNAPSHOT.exec(text) ?? []
  if (lowest === undefined || next === undefined) return false
  const ids = running === undefined ? [] : running.split(',').map(BigInt)
  const isRising = ids.every((id, index) => id > (ids[index - 1] ?? BigInt(lowest) - 1n))
  return BigInt(lowest) >= 1n && BigInt(lowest) <= BigInt(next) && isRising && (ids.at(-1) ?? 0n) < BigInt(next)
}
