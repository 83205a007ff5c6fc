/** True if the date at the start of an ISO 8601 text exists; JavaScript reads 30 February as 2 March. */
export function isCalendarDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day)
}

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
