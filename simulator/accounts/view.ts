import { hash } from 'node:crypto'
import type { Context } from '../context.js'
import type { BusinessNumber } from '../numbers/business-numbers.js'
import { type NumberState, World } from './world.js'

const fields = ['messages', 'message_template_status_update']

/**
 * The world with the numbers that services registered, so that these can be connected again, too. Each has an app of
 * its secret, which is subscribed, and a token that opens its account. Unless `strict` is set.
 */
export function viewOf({ world, numbers, phones, settings }: Context): World {
  const registered = Array.from(numbers.values()).filter(
    ({ phone_number_id: id }) => !world.numbers.has(id) && !phones.has(id),
  )
  if (settings.strict || registered.length === 0) return world
  const view = new World()
  for (const number of registered) addRegistered(view, number)
  for (const kind of ['apps', 'accounts', 'numbers', 'tokens'] as const) {
    for (const [id, thing] of world[kind]) (view[kind] as Map<string, unknown>).set(id, thing)
  }
  return view
}

function addRegistered(view: World, number: BusinessNumber): void {
  const { phone_number_id: id, business_account_id: accountId, app_secret: secret, access_token: token } = number
  const appId = String(Number.parseInt(hash('sha256', secret, 'hex').slice(0, 12), 16))
  const address = { callback_url: number.callback_url, fields }
  view.apps.set(appId, { id: appId, name: 'Sandbox', secret, published: true, requires_proof: false, ...address })
  const rights = { has_payment: true, locked: false }
  const subscriptions = new Map([[appId, null]])
  view.accounts.set(accountId, { id: accountId, name: 'Sandbox', business_id: null, subscriptions, ...rights })
  view.numbers.set(id, stateOf(number))
  if (token === undefined) return
  const known = view.tokens.get(token)
  const accounts = [...new Set([...(known?.accounts ?? []), accountId])]
  view.tokens.set(token, {
    token,
    app_id: appId,
    user_id: '1000',
    type: 'SYSTEM_USER',
    scopes: ['whatsapp_business_messaging', 'whatsapp_business_management'],
    accounts,
    targets: accounts,
    expires_at: 0,
    data_access_expires_at: 0,
  })
}

function stateOf({ phone_number_id, business_account_id, display_phone_number }: BusinessNumber): NumberState {
  return {
    id: phone_number_id,
    account_id: business_account_id,
    verified_name: `Shop ${display_phone_number}`,
    status: 'CONNECTED',
    code_verification_status: 'VERIFIED',
    name_status: 'APPROVED',
    new_name_status: 'NONE',
    quality_rating: 'GREEN',
    throughput: 'STANDARD',
    account_mode: 'LIVE',
    is_on_biz_app: false,
    phone_data: [],
    pin: null,
    wrong_pins: 0,
    pin_refusal: null,
    registrations: [],
    deleted_at: null,
    recipients: [],
    override: null,
  }
}
