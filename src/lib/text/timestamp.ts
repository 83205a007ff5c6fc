const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000

/** Reads Unix seconds, as text or number; null for other values. */
export function readTimestamp(value: unknown): Date | null {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LAST_SECOND)) return null
  return new Date(seconds * 1000)
}
