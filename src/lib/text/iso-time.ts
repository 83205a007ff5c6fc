import { isCalendarDate } from './calendar.js'

const DATE = String.raw`(?<year>\d{4})-?(?<month>\d\d)-?(?<day>\d\d)`
const CLOCK = String.raw`(?<hours>\d\d):?(?<minutes>\d\d)(?::?(?<seconds>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?`
const ZONE = String.raw`(?<zone>Z|(?<sign>[+\-\u2212])(?<zoneHours>\d\d)(?::?(?<zoneMinutes>\d\d))?)`
const TIME = new RegExp(`^${DATE}[T ]${CLOCK} ?${ZONE}?$`, 'i')

/**
 * Reads a time of ISO 8601 as programs write it: also without colons and hyphens, with a space for the `T`, in lower
 * case, with an offset such as `+0000` or `-03`. Without a zone it is a time of this machine. Null if it is none.
 */
export function readIsoTime(text: string): { at: Date; hasZone: boolean } | null {
  const parts = TIME.exec(text)?.groups
  if (!parts) return null
  const { year, month, day, hours, minutes, seconds = '00', fraction = '0', zone, sign, zoneHours } = parts
  const date = `${year}-${month}-${day}`
  const offset =
    sign === undefined ? (zone ? 'Z' : '') : `${sign === '+' ? '+' : '-'}${zoneHours}:${parts.zoneMinutes ?? '00'}`
  const at = new Date(`${date}T${hours}:${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`)
  return Number.isNaN(at.getTime()) || !isCalendarDate(date) ? null : { at, hasZone: zone !== undefined }
}
