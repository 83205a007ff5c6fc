import { checkToken } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import type { BusinessNumber } from './business-numbers.js'

/** The fields returned by default. */
const defaultFields = [
  ...['verified_name', 'code_verification_status', 'display_phone_number', 'quality_rating', 'platform_type'],
  ...['throughput', 'id'],
]
const fieldNames = [...defaultFields, 'name_status', 'account_mode', 'status']

/** Returns the upstream's description of a registered number, with the requested `fields` (comma-separated). */
export function describeNumber(
  context: Context,
  number: BusinessNumber,
  authorization: string | undefined,
  fields: string | string[] | undefined,
): { shown: object } | Refusal {
  const refusal = checkOpener(context, number, authorization)
  if (refusal) return refusal
  const wanted = readFields(fields)
  if ('body' in wanted) return wanted
  const shown = Object.entries(shownNumber(number)).filter(([name]) => wanted.includes(name))
  return { shown: Object.fromEntries(shown) }
}

/** A token of another number gets "does not exist"; an unknown token is invalid. */
function checkOpener({ numbers }: Context, number: BusinessNumber, authorization: string | undefined): Refusal | null {
  const refusal = checkToken(authorization, [number])
  if (refusal === null) return null
  const others = Array.from(numbers.values()).filter(({ access_token }) => access_token !== undefined)
  const isOfOthers = checkToken(authorization, others) === null
  return isOfOthers ? refusals.unknownObject('get', number.phone_number_id) : refusal
}

function readFields(fields: string | string[] = ''): string[] | Refusal {
  if (Array.isArray(fields)) return refusals.invalidParameter('Param fields must be given once.')
  if (fields === '') return defaultFields
  const wanted = [...fields.split(',').map((field) => field.trim()), 'id']
  const unknownName = wanted.find((field) => !fieldNames.includes(field))
  return unknownName === undefined ? wanted : refusals.unknownField(unknownName, 'WhatsAppBusinessPhoneNumber')
}

function shownNumber({ phone_number_id: id, display_phone_number }: BusinessNumber) {
  return {
    verified_name: `Shop ${display_phone_number}`,
    code_verification_status: 'VERIFIED',
    display_phone_number,
    quality_rating: 'GREEN',
    platform_type: 'CLOUD_API',
    throughput: { level: 'STANDARD' },
    name_status: 'APPROVED',
    account_mode: 'LIVE',
    status: 'CONNECTED',
    id,
  }
}
