/** An object of unchecked JSON; {} if it is not one. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** The objects of a list; [] if it is not a list. */
export function asObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

/** A text that is not empty, or a number as text, else null. */
export function asText(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A text in upper case, as WhatsApp's types are compared; '' for other values. */
export function asUpper(value: unknown): string {
  return asText(value)?.toUpperCase() ?? ''
}
