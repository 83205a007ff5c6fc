import type { Context } from '../../context.js'
import { Problem } from '../../model/problem.js'
import { type EventPosition, readNewestPosition } from '../../storage/events/events.js'
import { readPosition, writePosition } from '../webhooks/feed.js'

/** Events are kept for longer (core/runtime/maintenance): a mark that is not older misses none. */
const MAX_AGE_MS = 7 * 24 * 60 * 60_000
const MARK = /^(?<at>[0-9a-z]{1,9})\.(?<position>[\w-]{1,8192})$/

/** Where a reader of live events is, as a text that it hands back, with the time: one day nothing is known of it any more. */
export function writeMark(position: EventPosition, at: Date): string {
  return `${at.getTime().toString(36)}.${writePosition(position)}`
}

/** The mark of this moment: whoever goes on after it hears of all that happens after what is read from now on. */
export async function markNow({ database, clock }: Pick<Context, 'database' | 'clock'>): Promise<string> {
  return writeMark(await readNewestPosition(database), clock())
}

/** The position that a mark names; null of one that is too old, or none of ours. */
export function readMark(mark: string, now: Date): EventPosition | null {
  const { at = '', position = '' } = MARK.exec(mark)?.groups ?? {}
  if (position === '' || now.getTime() - Number.parseInt(at, 36) > MAX_AGE_MS) return null
  try {
    return readPosition(position)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
