import type { Scope } from '../../model/organizations/scope.js'
import { Problem } from '../../model/problem.js'
import type { EventPosition } from '../../storage/events/events.js'
import { checkOrigin } from '../webhooks/feed.js'
import type { LiveContext, LiveHub } from './hub.js'
import { type LiveItem, readLiveWindow } from './items.js'
import { readMark } from './mark.js'

/** Who wants to hear of an organization's events. */
export interface LiveReader {
  organizationId: string
  scopes: readonly Scope[]
  /** The mark of the last event that it has heard of; null: it begins now. */
  after: string | null
}

/** Where events go. */
export interface LiveSink {
  /** Aborted when nobody reads any more. */
  readonly signal: AbortSignal
  /** It hears of all that comes after this mark. */
  begin(mark: string): void
  tell(item: LiveItem): void
  /** It cannot be told what it missed: it loads anew, and hears of all that comes after this mark. */
  reset(mark: string): void
  /** Resolves when it has taken what it was told. */
  taken(): Promise<void>
  /** It is told no more: too much came while it heard of what it had missed. */
  cut(): void
}

/** The most that a reader is told of what it missed. */
const MAX_MISSED = 1_000
/** The most that is read for it: of what broadcasts make happen nothing is told. */
const MAX_READ = 10 * MAX_MISSED
const PAGE = 100

/**
 * Tells a reader what it missed, and then every event as it happens: none passed over, each once for as long as it listens. One that
 * comes again may be told of some again. Resolves when that has begun; it ends with the sink's signal.
 */
export async function followLive(
  ctx: LiveContext,
  hub: LiveHub,
  { organizationId, scopes, after }: LiveReader,
  sink: LiveSink,
): Promise<void> {
  const wants = ({ type }: LiveItem) => !type.startsWith('webhook.') || scopes.includes('webhooks:read')
  /** What was told of what was missed: the hub may tell of it as well. */
  const told = new Set<string>()
  let waiting: LiveItem[] | null = []
  const pass = (item: LiveItem) => {
    if (!told.delete(item.eventId)) sink.tell(item)
  }
  const { mark, leave } = await hub.join(organizationId, (item) => {
    if (!wants(item)) return
    if (waiting === null) pass(item)
    else if (waiting.push(item) > MAX_MISSED) sink.cut()
  })
  sink.signal.addEventListener('abort', leave, { once: true })
  if (sink.signal.aborted) return leave()
  try {
    if (after === null) sink.begin(mark())
    else if (!(await tellMissed(readMark(after, ctx.clock())))) sink.reset(mark())
    for (const item of waiting) pass(item)
    waiting = null
  } catch (error) {
    leave()
    throw error
  }

  /** False where it cannot be told: it is too much, or nothing is known of that position. */
  async function tellMissed(start: EventPosition | null): Promise<boolean> {
    let toldOf = 0
    let readOf = 0
    for (let position = start; position !== null && !sink.signal.aborted; ) {
      const { items, next, read, hasMore } = await readLiveWindow(ctx, organizationId, position, PAGE)
      if (!isOfThisDatabase(position, next)) return false
      toldOf += items.length
      readOf += read
      if (toldOf > MAX_MISSED || readOf > MAX_READ) return false
      for (const item of items.filter(wants)) {
        told.add(item.eventId)
        sink.tell(item)
        await sink.taken()
      }
      if (!hasMore) return true
      position = next
    }
    return false
  }
}

function isOfThisDatabase(start: EventPosition, next: EventPosition): boolean {
  try {
    checkOrigin(start, next)
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
