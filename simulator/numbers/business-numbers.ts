import type { JsonObject } from '../../src/lib/text/json.js'
import type { Metadata } from '../../src/upstream/wire.js'
import { invalidField, missingField, type Problem, problem } from '../control/problems.js'

/** A registered business number, with the destination of its callbacks. */
export interface BusinessNumber {
  phone_number_id: string
  display_phone_number: string
  business_account_id: string
  /** If set, sends must use this token. */
  access_token: string | undefined
  app_secret: string
  callback_url: string
}

/** A business number without its secrets. */
export type PublicNumber = Omit<BusinessNumber, 'access_token' | 'app_secret'>

export type Numbers = Map<string, BusinessNumber>

/**
 * Reads the body of a registration. `app_secret` and `callback_url` are required. `display_phone_number` is derived
 * from the id by default, and `business_account_id` is the id by default.
 */
export function readNumber(phoneNumberId: string, body: JsonObject): BusinessNumber | Problem {
  for (const field of ['display_phone_number', 'business_account_id', 'access_token', 'app_secret', 'callback_url']) {
    const value = body[field]
    if (value !== undefined && (typeof value !== 'string' || value === '')) {
      return invalidField(`${field} must be a string that is not empty`)
    }
  }
  const text = body as Partial<Record<keyof BusinessNumber, string>>
  if (text.app_secret === undefined) return missingField('app_secret')
  if (text.callback_url === undefined) return missingField('callback_url')
  if (!isHttpUrl(text.callback_url)) {
    return invalidField(`callback_url must be an http or https URL, but is ${text.callback_url}`)
  }
  return {
    phone_number_id: phoneNumberId,
    display_phone_number: text.display_phone_number ?? displayNumber(phoneNumberId),
    business_account_id: text.business_account_id ?? phoneNumberId,
    access_token: text.access_token,
    app_secret: text.app_secret,
    callback_url: text.callback_url,
  }
}

/** A business number without its secrets. */
export function publicNumber({ access_token: _token, app_secret: _secret, ...shown }: BusinessNumber): PublicNumber {
  return shown
}

/** The metadata that callbacks carry for a business number. */
export function metadataOf(number: Pick<BusinessNumber, 'display_phone_number' | 'phone_number_id'>): Metadata {
  return { display_phone_number: number.display_phone_number, phone_number_id: number.phone_number_id }
}

/** Finds the number that a body names by `phone_number_id`. */
export function findNumber(
  numbers: Numbers,
  { phone_number_id: id }: { phone_number_id?: unknown },
): BusinessNumber | Problem {
  if (id === undefined || id === '') return missingField('phone_number_id')
  if (typeof id !== 'string') return invalidField('phone_number_id must be a string')
  return numbers.get(id) ?? unknownNumber(id)
}

/** The numbers of a business account, in the order of their registration. */
export function numbersOf(numbers: Numbers, accountId: string): BusinessNumber[] {
  return Array.from(numbers.values()).filter((number) => number.business_account_id === accountId)
}

/** All business accounts with a number. */
export function accountsOf(numbers: Numbers): string[] {
  return [...new Set(Array.from(numbers.values(), (number) => number.business_account_id))]
}

export function unknownNumber(id: string): Problem {
  return problem(
    404,
    'Number not found',
    `No business number ${id} is registered: PUT /_sim/numbers/${id} registers it`,
  )
}

function displayNumber(phoneNumberId: string): string {
  return `1555${phoneNumberId.replace(/\D/g, '').slice(-7).padStart(7, '0')}`
}

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
