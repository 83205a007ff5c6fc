import type { JsonObject } from './json.js'
import { invalidField, type Problem } from './problems.js'

/** What a running simulator can be told to do differently. */
export interface Settings {
  /** Milliseconds before each status callback. */
  delay_ms: number
  /** Probability (0 to 1) that a callback is sent twice. */
  duplicate: number
  /** Probability (0 to 1) that a message's statuses come in another order. */
  disorder: number
  /** How many messages and statuses one callback holds at most. */
  batch: number
  /** Whether status callbacks are sent at all. */
  statuses: boolean
  /** Milliseconds until a send to a recipient ending in 000004 is answered. */
  slow_ms: number
  /** Probability (0 to 1) that an upload is refused with a 500. */
  upload_fails: number
  /** Whether the bytes of uploads are kept, so that they can be downloaded; size and hash always are. */
  keep_media: boolean
  /** Start of the row of chances: the same seed gives the same duplicates, disorder and failed uploads. */
  seed: number
  /** Whether accepted messages are kept for `GET /_sim/messages`. */
  record: boolean
}

export const defaultSettings: Readonly<Settings> = {
  delay_ms: 20,
  duplicate: 0,
  disorder: 0,
  batch: 50,
  statuses: true,
  slow_ms: 30_000,
  upload_fails: 0,
  keep_media: true,
  seed: 1,
  record: true,
}

/** The longest time that a timer of Node takes. */
const maxMs = 2 ** 31 - 1

const ranges: Partial<Record<keyof Settings, { min: number; max: number; whole: boolean }>> = {
  delay_ms: { min: 0, max: maxMs, whole: true },
  duplicate: { min: 0, max: 1, whole: false },
  disorder: { min: 0, max: 1, whole: false },
  batch: { min: 1, max: 1_000, whole: true },
  slow_ms: { min: 0, max: maxMs, whole: true },
  upload_fails: { min: 0, max: 1, whole: false },
  seed: { min: 0, max: 2 ** 32 - 1, whole: true },
}

/** Reads the settings that a body changes; the others stay as they are. */
export function readSettings(body: JsonObject): Partial<Settings> | Problem {
  for (const [name, value] of Object.entries(body)) {
    const complaint = complaintAbout(name, value)
    if (complaint) return invalidField(complaint)
  }
  return body as Partial<Settings>
}

function complaintAbout(name: string, value: unknown): string | null {
  if (!Object.hasOwn(defaultSettings, name)) {
    return `${name} is not a setting; there are ${Object.keys(defaultSettings).join(', ')}`
  }
  const range = ranges[name as keyof Settings]
  if (!range) return typeof value === 'boolean' ? null : `${name} must be true or false`
  const { min, max, whole } = range
  if (typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value))) return null
  return `${name} must be a ${whole ? 'whole ' : ''}number from ${min} to ${max}`
}
