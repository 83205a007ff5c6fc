import type { JsonObject } from '../src/lib/text/json.js'
import { invalidField, type Problem } from './control/problems.js'

/** How the storefront answers: normally, with a rate limit (429 or THROTTLED), with 503, or never. */
const shopAnswers = ['normal', 'limited', 'down', 'silent'] as const

/** Whether a template that the account does not have is refused (strict) or accepted (any). */
const templateRules = ['strict', 'any'] as const

/** The settings of a running simulator. */
export interface Settings {
  /** Milliseconds before each status callback. */
  delay_ms: number
  /** Probability (0 to 1) that a callback is sent twice. */
  duplicate: number
  /** Probability (0 to 1) that a message's statuses arrive in another order. */
  disorder: number
  /** Maximum number of messages and statuses in one callback. */
  batch: number
  /** Whether status callbacks are sent at all. */
  statuses: boolean
  /** Milliseconds until a send to a recipient ending in 000004 is answered. */
  slow_ms: number
  /** Probability (0 to 1) that an upload is refused with a 500. */
  upload_fails: number
  /** Whether the bytes of uploads are kept for downloads; size and hash are always kept. */
  keep_media: boolean
  /** Seed of the random numbers: the same seed gives the same duplicates, disorder and failed uploads. */
  seed: number
  /** Whether accepted messages are kept for `GET /_sim/messages`. */
  record: boolean
  templates: (typeof templateRules)[number]
  /** Whether new and edited templates are approved at once; otherwise they stay PENDING until their status is set. */
  approve_templates: boolean
  /** Whether numbers, tokens and accounts must have been made (`PUT /_sim/accounts`); services register none then. */
  strict: boolean
  /** Milliseconds that an address has to answer when it is verified. */
  verify_ms: number
  /** Whether templates are accepted and held back for a check of their quality; then no statuses follow. */
  hold_templates: boolean
  /** Whether the storefront has a GraphQL API; if not, its path answers 404. */
  shop_graphql: boolean
  shop_answers: (typeof shopAnswers)[number]
  /** How many of the next requests for a list of orders get a rate limit error; counts down. */
  shop_limited_lists: number
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
  templates: 'strict',
  approve_templates: false,
  strict: false,
  verify_ms: 6_000,
  hold_templates: false,
  shop_graphql: true,
  shop_answers: 'normal',
  shop_limited_lists: 0,
}

/** Maximum time of a Node timer. */
const maxMs = 2 ** 31 - 1

/** The allowed values of a setting; `expected` completes "… must be". */
interface Rule {
  expected: string
  fits(value: unknown): boolean
}

const flag: Rule = { expected: 'true or false', fits: (value) => typeof value === 'boolean' }
const chance = numberWithin(0, 1)

const rules: Record<keyof Settings, Rule> = {
  delay_ms: wholeWithin(0, maxMs),
  duplicate: chance,
  disorder: chance,
  batch: wholeWithin(1, 1_000),
  statuses: flag,
  slow_ms: wholeWithin(0, maxMs),
  upload_fails: chance,
  keep_media: flag,
  seed: wholeWithin(0, 2 ** 32 - 1),
  record: flag,
  templates: oneOf(templateRules),
  approve_templates: flag,
  strict: flag,
  verify_ms: wholeWithin(1, maxMs),
  hold_templates: flag,
  shop_graphql: flag,
  shop_answers: oneOf(shopAnswers),
  shop_limited_lists: wholeWithin(0, 1_000_000),
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
  if (!Object.hasOwn(rules, name)) return `${name} is not a setting; there are ${Object.keys(rules).join(', ')}`
  const { expected, fits } = rules[name as keyof Settings]
  return fits(value) ? null : `${name} must be ${expected}`
}

function numberWithin(min: number, max: number): Rule {
  return {
    expected: `a number from ${min} to ${max}`,
    fits: (value) => typeof value === 'number' && value >= min && value <= max,
  }
}

function wholeWithin(min: number, max: number): Rule {
  const { fits } = numberWithin(min, max)
  return {
    expected: `a whole number from ${min} to ${max}`,
    fits: (value) => Number.isInteger(value) && fits(value),
  }
}

function oneOf(words: readonly string[]): Rule {
  return {
    expected: `one of ${words.join(', ')}`,
    fits: (value) => typeof value === 'string' && words.includes(value),
  }
}
