import { readIsoTime } from '../../lib/text/iso-time.js'
import { Problem } from '../../model/problem.js'

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
  const times = `${start.toISOString()} is in the past (it is ${now.toISOString()} now)`
  throw new Problem('invalid_field', `${field} ${times}: leave it out to begin at once`)
}
