import { asText } from '../lib/text/json.js'
import { isStorable } from '../lib/text/text.js'
import type { FindOrderOutcome } from './outcome.js'

const MAX_NAME_LENGTH = 200

/** Reads an order from a shop's answer, which is not trusted; an order without number and name counts as a failure. */
export function readOrder(number: unknown, name: unknown): FindOrderOutcome {
  const order = { number: readNumber(number), name: readName(name) }
  if (order.number !== null || order.name !== null) return { outcome: 'found', order }
  return { outcome: 'unavailable', text: 'the shop answered with an order that has neither a number nor a name' }
}

function readNumber(value: unknown): string | null {
  const isNumber = Number.isSafeInteger(value) || typeof value === 'string'
  return isNumber && /^\d{1,20}$/.test(String(value)) ? String(value) : null
}

function readName(value: unknown): string | null {
  const name = asText(value)?.trim()
  return name && name.length <= MAX_NAME_LENGTH && isStorable(name) ? name : null
}
