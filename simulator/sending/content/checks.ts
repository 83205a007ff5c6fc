import type { JsonObject } from '../../../src/lib/text/json.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import type { MediaKind } from '../../media/types.js'

/** The kind of media that the sending number uploaded under an id; null if it uploaded none. */
export type KindOfUpload = (mediaId: string) => MediaKind | null

/** Checks the body of a message type; null if the upstream would accept it. */
export type ContentCheck = (body: JsonObject, kindOfUpload: KindOfUpload) => Refusal | null

export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Counts characters as code points; a text that is short enough in UTF-16 units needs no count. */
export function isLonger(text: string, max: number): boolean {
  return text.length > max && Array.from(text).length > max
}

/** Refuses a text that is missing, empty, of another type, or longer than `max` characters. */
export function checkRequiredText(value: unknown, name: string, max?: number): Refusal | null {
  if (value === undefined || value === '') return refusals.missing(`${name} is required`)
  return checkOptionalText(value, name, max)
}

/** Refuses a text that is of another type, or longer than `max` characters. */
export function checkOptionalText(value: unknown, name: string, max?: number): Refusal | null {
  if (value === undefined) return null
  if (typeof value !== 'string') return refusals.invalidValue(`${name} must be a string`)
  if (max === undefined || !isLonger(value, max)) return null
  return refusals.invalidValue(`${name} is too long. Max length is ${max}`)
}

/** Returns the refusal of the first item that has one. */
export function firstRefusal<Item>(
  items: Iterable<Item>,
  check: (item: Item, index: number) => Refusal | null,
): Refusal | null {
  let index = 0
  for (const item of items) {
    const refusal = check(item, index)
    if (refusal) return refusal
    index += 1
  }
  return null
}

/** Refuses a text that occurs twice. */
export function checkUnique(texts: unknown[], name: string): Refusal | null {
  const twice = texts.find((text, index) => texts.indexOf(text) !== index)
  return twice === undefined ? null : refusals.invalidValue(`${name} must be unique, but ${twice} occurs twice`)
}
