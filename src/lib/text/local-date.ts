/** Creating a formatter is far more expensive than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>()

/** The calendar date (YYYY-MM-DD) of a time in a time zone (IANA name). */
export function localDate(at: Date, timeZone: string): string {
  let formatter = formatters.get(timeZone)
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    formatters.set(timeZone, formatter)
  }
  return formatter.format(at)
}
