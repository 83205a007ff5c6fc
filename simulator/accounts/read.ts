import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { invalidField, missingField, type Problem } from '../control/problems.js'
import type { NumberState, SimulatedAccount, SimulatedApp, SimulatedToken } from './world.js'

/** The default values of a thing; a field of the body must have the type of its default. */
type Defaults = Record<string, unknown>

const scopes = ['whatsapp_business_messaging', 'whatsapp_business_management']

/** Reads the body of `PUT /_sim/apps/{id}`; `secret` is required. */
export function readApp(id: string, body: JsonObject): SimulatedApp | Problem {
  const defaults = { name: `App ${id}`, secret: '', published: true, requires_proof: false, fields: [] as string[] }
  const read = readFields({ ...defaults, callback_url: null }, body)
  if ('problem' in read) return read as unknown as Problem
  if (read.secret === '') return missingField('secret')
  return { ...(read as Omit<SimulatedApp, 'id'>), id }
}

/** Reads the body of `PUT /_sim/accounts/{id}`: the account with its `numbers`. */
export function readAccount(
  id: string,
  body: JsonObject,
): { account: SimulatedAccount; numbers: { display: string | null; state: NumberState }[] } | Problem {
  const { numbers = [], ...fields } = body
  const read = readFields({ name: `Account ${id}`, business_id: null, has_payment: true, locked: false }, fields)
  if ('problem' in read) return read as unknown as Problem
  if (!Array.isArray(numbers) || !numbers.every(isJsonObject)) return invalidField('numbers must be a list of objects')
  const given = numbers.map((number) => readNumberState(id, number))
  const wrong = given.find((number) => 'problem' in number)
  if (wrong) return wrong as Problem
  const account = { ...(read as Omit<SimulatedAccount, 'id' | 'subscriptions'>), id, subscriptions: new Map() }
  return { account, numbers: given as { display: string | null; state: NumberState }[] }
}

function readNumberState(
  accountId: string,
  { id, display_phone_number: display = null, ...fields }: JsonObject,
): { display: string | null; state: NumberState } | Problem {
  if (typeof id !== 'string' || id === '') return missingField('numbers[].id')
  if (display !== null && typeof display !== 'string') return invalidField('display_phone_number must be a string')
  const states = {
    status: 'PENDING',
    code_verification_status: 'VERIFIED',
    quality_rating: 'GREEN',
    throughput: 'STANDARD',
  }
  const names = { verified_name: `Shop ${id}`, name_status: 'APPROVED', new_name_status: 'NONE' }
  const registration = { pin: null, wrong_pins: 0, pin_refusal: null, registrations: [], deleted_at: null }
  const kinds = {
    account_mode: 'LIVE',
    is_on_biz_app: false,
    phone_data: [] as string[],
    recipients: [],
    override: null,
  }
  const read = readFields({ ...states, ...names, ...registration, ...kinds }, fields)
  if ('problem' in read) return read as unknown as Problem
  return { display, state: { ...(read as Omit<NumberState, 'id' | 'account_id'>), id, account_id: accountId } }
}

/** Reads the body of `PUT /_sim/tokens/{token}`; `app_id` is required. */
export function readToken(token: string, body: JsonObject): SimulatedToken | Problem {
  const owner = { app_id: '', user_id: '1000', type: 'SYSTEM_USER' }
  const rights = { scopes, accounts: [] as string[], targets: body.accounts ?? [] }
  const read = readFields({ ...owner, ...rights, expires_at: 0, data_access_expires_at: 0 }, body)
  if ('problem' in read) return read as unknown as Problem
  if (read.app_id === '') return missingField('app_id')
  return { ...(read as Omit<SimulatedToken, 'token'>), token }
}

/** The given fields over the defaults. A field may be null where its default is null or a list. */
function readFields(defaults: Defaults, given: JsonObject): Defaults | Problem {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, name)) {
      return invalidField(`${name} is not a field; there are ${Object.keys(defaults).join(', ')}`)
    }
    const known = defaults[name]
    const fits =
      known === null
        ? value === null || typeof value === 'string' || typeof value === 'number'
        : Array.isArray(known)
          ? value === null || Array.isArray(value)
          : typeof value === typeof known
    if (!fits) return invalidField(`${name} does not have the type of its default, ${JSON.stringify(known)}`)
  }
  return { ...defaults, ...given }
}
