/** Converts a local time of the time zone (`YYYY-MM-DD HH:mm:ss`) to an instant. */
export function toInstant(local: string, timeZone: string): Date {
  const shown = Date.parse(`${local.replace(' ', 'T')}Z`)
  // The offset may differ between the first guess and the instant itself.
  const guess = shown - offsetAt(shown, timeZone)
  return new Date(shown - offsetAt(guess, timeZone))
}

/** Converts an instant to the local time of the time zone, as `YYYY-MM-DD HH:mm:ss`. */
export function localTime(at: Date, timeZone: string): string {
  // The Swedish locale formats times like this.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at)
}

/** Offset of the time zone from UTC, in milliseconds. */
function offsetAt(at: number, timeZone: string): number {
  const whole = at - (at % 1_000)
  return Date.parse(`${localTime(new Date(whole), timeZone).replace(' ', 'T')}Z`) - whole
}
