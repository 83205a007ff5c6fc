import { readIsoTime } from '../lib/text/iso-time.js'
import { Problem } from '../model/problem.js'

/** How late a time may be that is still to come. Clocks differ, and requests wait and are repeated. */
const MAX_LATE_MS = 5 * 60_000

/**
 * The time in a field whose schema says date-time. One without a zone would be another time on each machine. Throws
 * invalid_field.
 */
export function readMoment(field: string, given: string): Date {
  const time = readIsoTime(given)
  if (time?.hasZone) return time.at
  throw new Problem('invalid_field', `${field} must have a time zone, such as Z in 2026-12-24T18:00:00Z`)
}

/**
 * The time at which something is to begin. One in the past would begin at once, which nobody means who writes another
 * year or zone than he thinks. Throws invalid_field.
 */
export function readStart(field: string, given: string, now: Date): Date {
  const start = readMoment(field, given)
  if (start.getTime() >= now.getTime() - MAX_LATE_MS) return start
  throw inThePast(field, start, now, 'leave it out to begin at once')
}

/** The time at which something is to end. Throws invalid_field for one that is not to come. */
export function readEnd(field: string, given: string, now: Date): Date {
  const end = readMoment(field, given)
  if (end.getTime() > now.getTime()) return end
  throw inThePast(field, end, now, 'give a time that is to come')
}

function inThePast(field: string, at: Date, now: Date, advice: string): Problem {
  const times = `${at.toISOString()} is in the past (it is ${now.toISOString()} now)`
  return new Problem('invalid_field', `${field} ${times}: ${advice}`)
}

/**
 * The time of a send that is to happen later; null: now. Throws invalid_field if it is past or over a year ahead. Not
 * for a request that is repeated: it gets its first answer also when the time has passed.
 */
export function readSendTime(given: string | null | undefined, now: Date): Date | null {
  if (given === undefined || given === null) return null
  const time = readStart('scheduled_at', given, now)
  const latest = new Date(now)
  latest.setUTCFullYear(latest.getUTCFullYear() + 1)
  if (time <= latest) return time
  throw new Problem(
    'invalid_field',
    `scheduled_at ${time.toISOString()} is more than a year ahead: it can be ${latest.toISOString()} at the latest`,
  )
}
