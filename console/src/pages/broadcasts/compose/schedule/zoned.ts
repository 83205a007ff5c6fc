/** The moment at which clocks of the time zone show `local` (`YYYY-MM-DD HH:mm:ss`). */
export function toInstant(local: string, timeZone: string): Date {
  const shown = Date.parse(`${local.replace(' ', 'T')}Z`)
  // The clocks may have changed between the first guess and the moment itself.
  const guess = shown - offsetAt(shown, timeZone)
  return new Date(shown - offsetAt(guess, timeZone))
}

/** What clocks of the time zone show then, as `YYYY-MM-DD HH:mm:ss`. */
export function localTime(at: Date, timeZone: string): string {
  // Sweden writes moments like this.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at)
}

/** How far the time zone is ahead of UTC, in milliseconds. */
function offsetAt(at: number, timeZone: string): number {
  const whole = at - (at % 1_000)
  return Date.parse(`${localTime(new Date(whole), timeZone).replace(' ', 'T')}Z`) - whole
}
