import type { Context } from '../../context.js'
import { Problem } from '../../model/problem.js'
import { readNewestPosition } from '../../storage/events/events.js'
import { findHistories } from '../processes/histories.js'
import { type MarkedPosition, markPosition, readPosition, writePosition } from '../webhooks/positions.js'

/** Events are kept for longer (core/maintenance/maintenance), so a younger mark misses none. */
const MAX_AGE_MS = 7 * 24 * 60 * 60_000
const MARK = /^(?<at>[0-9a-z]{1,9})\.(?<position>[\w-]{1,8192})$/

/** The position of a live reader as text, with its time, because old positions become unknown. */
export function writeMark(position: MarkedPosition, at: Date): string {
  return `${at.getTime().toString(36)}.${writePosition(position)}`
}

/** The position of this moment: a reader that continues after it receives everything that happens from now on. */
export async function findNewestPosition(ctx: Pick<Context, 'database' | 'clock' | 'log'>): Promise<MarkedPosition> {
  const histories = await findHistories(ctx)
  return markPosition(await readNewestPosition(ctx.database), histories)
}

/** The mark of this moment. */
export async function markNow(ctx: Pick<Context, 'database' | 'clock' | 'log'>): Promise<string> {
  return writeMark(await findNewestPosition(ctx), ctx.clock())
}

/** The position of a mark; null if the mark is too old or malformed. */
export function readMark(mark: string, now: Date): MarkedPosition | null {
  const { at = '', position = '' } = MARK.exec(mark)?.groups ?? {}
  if (position === '' || now.getTime() - Number.parseInt(at, 36) > MAX_AGE_MS) return null
  try {
    return readPosition(position)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
