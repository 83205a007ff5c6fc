import { Problem } from '../../model/problem.js'

const HAS_ZONE = /(Z|[+-]\d\d:\d\d)$/i

/**
 * The time in a field whose schema says date-time. One without a zone would be another time on each machine. Throws
 * invalid_field.
 */
export function readMoment(field: string, given: string): Date {
  if (HAS_ZONE.test(given)) return new Date(given)
  throw new Problem('invalid_field', `${field} must have a time zone, such as Z in 2026-12-24T18:00:00Z`)
}
