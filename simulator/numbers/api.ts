import { checkManagement, readCaller } from '../accounts/access.js'
import { viewOf } from '../accounts/view.js'
import { isRegistered, type NumberState, type SimulatedAccount, type World } from '../accounts/world.js'
import { checkToken } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import type { BusinessNumber } from './business-numbers.js'

/** The fields returned by default. */
const defaultFields = [
  ...['verified_name', 'code_verification_status', 'display_phone_number', 'quality_rating', 'platform_type'],
  ...['throughput', 'id'],
]
const fieldNames = [
  ...defaultFields,
  ...['name_status', 'new_name_status', 'account_mode', 'status', 'is_on_biz_app', 'webhook_configuration'],
  ...['health_status', 'whatsapp_business_manager_messaging_limit'],
]

/** Returns the upstream's description of a registered number, with the requested `fields` (comma-separated). */
export function describeNumber(
  context: Context,
  number: BusinessNumber,
  authorization: string | undefined,
  fields: string | string[] | undefined,
): { shown: object } | Refusal {
  const refusal = checkOpener(context, number, authorization)
  if (refusal) return refusal
  return showNumber(viewOf(context), number, fields)
}

/** A number with the requested fields, or the refusal of a field that there is not. */
export function showNumber(
  world: World,
  number: BusinessNumber,
  fields: string | string[] | undefined,
): { shown: object } | Refusal {
  const wanted = readFields(fields)
  if ('body' in wanted) return wanted
  const state = world.numbers.get(number.phone_number_id)
  const account = world.accounts.get(number.business_account_id)
  const described = state && account ? describe(world, number, state, account) : {}
  const shown = Object.entries(described).filter(([name]) => wanted.includes(name))
  return { shown: Object.fromEntries(shown) }
}

/** A token of another number gets "does not exist"; an unknown token is invalid. */
function checkOpener(context: Context, number: BusinessNumber, authorization: string | undefined): Refusal | null {
  const { numbers, world } = context
  const id = number.phone_number_id
  if (world.numbers.has(id)) {
    const caller = readCaller(world, authorization)
    return 'body' in caller ? caller : checkManagement(caller, number.business_account_id, { method: 'get', id })
  }
  const refusal = checkToken(authorization, [number])
  if (refusal === null) return null
  const others = Array.from(numbers.values()).filter(({ access_token }) => access_token !== undefined)
  const isOfOthers = checkToken(authorization, others) === null
  return isOfOthers ? refusals.unknownObject('get', id) : refusal
}

function readFields(fields: string | string[] = ''): string[] | Refusal {
  if (Array.isArray(fields)) return refusals.invalidParameter('Param fields must be given once.')
  if (fields === '') return defaultFields
  const wanted = [...fields.split(',').map((field) => field.trim()), 'id']
  const unknownName = wanted.find((field) => !fieldNames.includes(field))
  return unknownName === undefined ? wanted : refusals.unknownField(unknownName, 'WhatsAppBusinessPhoneNumber')
}

function describe(
  world: World,
  { phone_number_id: id, display_phone_number }: BusinessNumber,
  state: NumberState,
  account: SimulatedAccount,
) {
  const { account_mode, is_on_biz_app, quality_rating, status } = state
  return {
    verified_name: state.verified_name,
    code_verification_status: state.code_verification_status,
    display_phone_number,
    quality_rating,
    platform_type: isRegistered(state) ? 'CLOUD_API' : 'NOT_APPLICABLE',
    throughput: { level: isRegistered(state) ? state.throughput : 'NOT_APPLICABLE' },
    name_status: state.name_status,
    new_name_status: state.new_name_status,
    account_mode,
    status,
    is_on_biz_app,
    whatsapp_business_manager_messaging_limit: 'TIER_250',
    webhook_configuration: addressesOf(world, state, account),
    health_status: healthOf(id, state, account),
    id,
  }
}

/** The addresses at which the platform calls an app about a number; the first that is set counts. */
function addressesOf(world: World, { override }: NumberState, { subscriptions }: SimulatedAccount) {
  const [appId, ofAccount = null] = [...subscriptions][0] ?? []
  const application = appId === undefined ? null : (world.apps.get(appId)?.callback_url ?? null)
  return {
    ...(override === null ? {} : { phone_number: override }),
    ...(ofAccount === null ? {} : { whatsapp_business_account: ofAccount }),
    ...(application === null ? {} : { application }),
  }
}

function healthOf(id: string, state: NumberState, account: SimulatedAccount) {
  const number = { entity_type: 'PHONE_NUMBER', id, can_send_message: isRegistered(state) ? 'AVAILABLE' : 'BLOCKED' }
  const paid = account.has_payment || state.account_mode === 'SANDBOX'
  const ofAccount = { entity_type: 'WABA', id: account.id, can_send_message: paid ? 'AVAILABLE' : 'BLOCKED' }
  const errors = [
    {
      error_code: 141006,
      error_description: 'There is an error with the payment method.',
      possible_solution: 'There was an error with your payment method. Please add a new payment method to the account.',
    },
  ]
  const entities = [number, paid ? ofAccount : { ...ofAccount, errors }]
  const isBlocked = entities.some(({ can_send_message }) => can_send_message === 'BLOCKED')
  return { can_send_message: isBlocked ? 'BLOCKED' : 'AVAILABLE', entities }
}
