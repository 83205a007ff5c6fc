import { isJsonObject, type JsonObject } from '../../../lib/text/json.js'

/** The most characters of a text that is shown. */
export const MAX_TEXT = 4_096
/** The most items of a list that is shown. */
export const MAX_ITEMS = 100
/** How deep the lists of known kinds are nested. */
const MAX_LIST_DEPTH = 8

/** A text that is not empty, or a number as text; null for other values. Longer texts are cut. */
export function readText(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string' || value === '') return null
  return value.length <= MAX_TEXT ? value : cut(value)
}

/** The same for texts that programs read, which are useless without their end: longer ones are null. */
export function readWhole(value: unknown): string | null {
  const text = readText(value)
  return text === value ? text : null
}

/** Counts characters, not halves of them. No character has more than two halves. */
function cut(text: string): string {
  return Array.from(text.slice(0, 2 * MAX_TEXT))
    .slice(0, MAX_TEXT)
    .join('')
}

/** A finite number, also one that is written as text; null for other values. */
export function readNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** The same for whole numbers. */
export function readInteger(value: unknown): number | null {
  const number = readNumber(value)
  return Number.isInteger(number) ? number : null
}

/** True or false, null for other values. */
export function readBoolean(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

/** A point in time, written as ISO 8601, as ISO 8601 in UTC; null for other values. */
export function readTime(value: unknown): string | null {
  return typeof value === 'string' ? toIso(Date.parse(value)) : null
}

/** The same for Unix seconds, as number or text. */
export function readSeconds(value: unknown): string | null {
  const seconds = readNumber(value)
  return seconds === null || seconds <= 0 ? null : toIso(seconds * 1_000)
}

const LAST_MOMENT = Date.parse('9999-12-31T23:59:59Z')

function toIso(ms: number): string | null {
  return ms >= 0 && ms <= LAST_MOMENT ? new Date(ms).toISOString() : null
}

/** What `read` makes of the first objects of a list; an empty list for other values. */
export function readItems<Item>(value: unknown, read: (item: JsonObject) => Item): Item[] {
  return Array.isArray(value) ? value.filter(isJsonObject).slice(0, MAX_ITEMS).map(read) : []
}

/** The first texts of a list; an empty list for other values. */
export function readTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((item) => readText(item) ?? []).slice(0, MAX_ITEMS) : []
}

/** The first fields of an object that are texts; an empty object for other values. */
export function readFields(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {}
  const texts = Object.entries(value).flatMap(([name, field]) => {
    const text = readText(field)
    return text === null ? [] : [[readText(name) ?? '', text] as const]
  })
  return Object.fromEntries(texts.slice(0, MAX_ITEMS))
}

/** Whether the value has a list that is shown without its last items. */
export function hasLongList(value: unknown, depth = MAX_LIST_DEPTH): boolean {
  if (typeof value !== 'object' || value === null || depth === 0) return false
  if (Array.isArray(value) && value.length > MAX_ITEMS) return true
  return Object.values(value).some((part) => hasLongList(part, depth - 1))
}
