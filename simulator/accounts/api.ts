import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { asText, type JsonObject, parseJsonObject } from '../../src/lib/text/json.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { refuse } from '../errors/refuse.js'
import { showNumber } from '../numbers/api.js'
import { numbersOf } from '../numbers/business-numbers.js'
import { findCaller, isExpired, readCaller } from './access.js'
import { type AccountCall, openAccount, openNumber, refuseAddress } from './call.js'
import { askForPhoneData } from './phone-data.js'
import { registerNumber } from './registration.js'
import { readSubscriptions, setSubscription } from './subscriptions.js'
import { viewOf } from './view.js'
import type { SimulatedAccount, SimulatedToken, World } from './world.js'

type Route = { Params: { id: string }; Querystring: AccountCall['query'] }
type Result = object | Refusal
type Handle = (call: AccountCall) => Result | Promise<Result>

const VERSION = '/:version(^v\\d+\\.\\d+$)'

/** The upstream's endpoints about tokens, apps, business accounts and the registration of numbers. */
export function accountsApi(app: FastifyInstance, context: Context): void {
  const answering = (handle: Handle) => (request: FastifyRequest<Route>, reply: FastifyReply) =>
    answerCall(context, request, reply, handle)
  app.get<Route>(`${VERSION}/debug_token`, answering(debugToken))
  app.get<Route>(
    `${VERSION}/app`,
    answering(
      ({
        caller: {
          app: { id, name },
        },
      }) => ({ id, name, category: 'Business' }),
    ),
  )
  app.get<Route>(`${VERSION}/me/businesses`, answering(listBusinesses))
  app.get<Route>(`${VERSION}/:id/assigned_whatsapp_business_accounts`, answering(listAssigned))
  app.get<Route>(`${VERSION}/:id/owned_whatsapp_business_accounts`, answering(listOwned))
  app.get<Route>(
    `${VERSION}/:id/client_whatsapp_business_accounts`,
    answering(() => ({ data: [] })),
  )
  app.get<Route>(`${VERSION}/:id/phone_numbers`, answering(listNumbers))
  app.get<Route>(`${VERSION}/:id/subscriptions`, answering(readSubscriptions))
  app.post<Route>(`${VERSION}/:id/subscriptions`, answering(setSubscription))
  app.get<Route>(`${VERSION}/:id/subscribed_apps`, answering(listSubscribed))
  app.post<Route>(`${VERSION}/:id/subscribed_apps`, answering(subscribe))
  app.delete<Route>(`${VERSION}/:id/subscribed_apps`, answering(unsubscribe))
  app.post<Route>(`${VERSION}/:id/register`, answering(registerNumber))
  app.post<Route>(`${VERSION}/:id/smb_app_data`, answering(askForPhoneData))
}

/** Changes the number that the path names. */
export function changeNumber(
  context: Context,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return answerCall(context, request, reply, setNumber)
}

async function answerCall(
  context: Context,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  handle: Handle,
): Promise<FastifyReply> {
  const result = await handleCall(context, request, handle)
  return 'body' in result ? refuse(reply, result as Refusal) : reply.send(result)
}

async function handleCall(
  context: Context,
  { params, query, headers, body, method }: FastifyRequest<Route>,
  handle: Handle,
): Promise<Result> {
  const world = viewOf(context)
  const caller = readCaller(world, headers.authorization)
  if ('body' in caller) return caller
  const given = typeof body === 'string' && body !== '' ? parseJsonObject(body) : {}
  if (given === null) return refusals.invalidParameter('The request body is not a JSON object.')
  return handle({ context, world, caller, method, id: params.id, query, body: given })
}

function debugToken({ world, caller, query }: AccountCall): Result {
  const input = asText(query.input_token)
  if (input === null) return refusals.invalidParameter('The parameter input_token is required.')
  const asked = findCaller(world, input)
  if (asked?.kind !== 'token' || asked.app.id !== caller.app.id) {
    return { data: { error: { code: 190, message: 'Invalid OAuth access token.' }, is_valid: false, scopes: [] } }
  }
  const { token, app } = asked
  const error = { code: 190, message: 'Error validating access token: Session has expired.', subcode: 463 }
  return {
    data: {
      app_id: app.id,
      type: token.type,
      application: app.name,
      data_access_expires_at: token.data_access_expires_at,
      expires_at: token.expires_at,
      is_valid: !isExpired(token),
      ...(isExpired(token) ? { error } : {}),
      scopes: token.scopes,
      granular_scopes: token.scopes.map((scope) => ({
        scope,
        ...(scope.startsWith('whatsapp_') && token.targets !== null ? { target_ids: token.targets } : {}),
      })),
      user_id: token.user_id,
    },
  }
}

function listBusinesses({ world, caller }: AccountCall): Result {
  if (caller.kind === 'app' || !caller.token.scopes.includes('business_management')) return { data: [] }
  const ids = new Set(openedBy(world, caller.token).flatMap(({ business_id }) => business_id ?? []))
  return { data: Array.from(ids, (id) => ({ id, name: `Business ${id}` })) }
}

function listAssigned({ world, caller, id, method }: AccountCall): Result {
  if (caller.kind === 'app' || caller.token.user_id !== id) return refusals.unknownObject(method, id)
  // A portfolio's accounts are not assigned to its people one by one.
  return { data: openedBy(world, caller.token).flatMap((account) => (account.business_id ? [] : [nameOf(account)])) }
}

function listOwned({ world, caller, id, method }: AccountCall): Result {
  if (caller.kind === 'app') return refusals.unknownObject(method, id)
  return {
    data: openedBy(world, caller.token).flatMap((account) => (account.business_id === id ? [nameOf(account)] : [])),
  }
}

function openedBy({ accounts }: World, token: SimulatedToken): SimulatedAccount[] {
  return token.accounts.flatMap((id) => accounts.get(id) ?? [])
}

function nameOf({ id, name }: SimulatedAccount): object {
  return { id, name, currency: 'USD', timezone_id: '1' }
}

function listNumbers({ context, world, caller, method, id, query }: AccountCall): Result {
  const account = openAccount(world, caller, { method, id })
  if ('body' in account) return account
  const { fields, limit = '25', after = '0' } = query
  if (!/^[1-9]\d{0,3}$/.test(String(limit)))
    return refusals.invalidParameter('Param limit must be an integer from 1 on.')
  if (!/^\d{1,6}$/.test(String(after))) return refusals.invalidParameter('Param after is not a cursor of this list.')
  const numbers = numbersOf(context.numbers, id)
  const end = Number(after) + Number(limit)
  const page = numbers.slice(Number(after), end).map((number) => showNumber(world, number, fields))
  const refused = page.find((one): one is Refusal => 'body' in one)
  if (refused) return refused
  const data = page.flatMap((one) => ('shown' in one ? [one.shown] : []))
  const cursors = { before: String(after), after: String(end) }
  const next = end < numbers.length ? { next: `https://graph.example/${id}/phone_numbers?after=${end}` } : {}
  return { data, paging: { cursors, ...next } }
}

function listSubscribed({ world, caller, method, id }: AccountCall): Result {
  const account = openAccount(world, caller, { method, id })
  if ('body' in account) return account
  return {
    data: Array.from(account.subscriptions, ([appId, override]) => ({
      whatsapp_business_api_data: { id: appId, name: world.apps.get(appId)?.name, link: 'https://example.com' },
      ...(override === null ? {} : { override_callback_uri: override }),
    })),
  }
}

/** Without an address it subscribes, and removes an override; with one it sets it, if the app is subscribed. */
async function subscribe({ context, world, caller, method, id, body }: AccountCall): Promise<Result> {
  const account = openAccount(world, caller, { method, id })
  if ('body' in account) return account
  const { override_callback_uri: url } = body
  if (url === undefined) {
    account.subscriptions.set(caller.app.id, null)
    return { success: true }
  }
  if (!account.subscriptions.has(caller.app.id)) return refusals.overrideTooEarly()
  const refused = await refuseAddress(context, url, body.verify_token)
  if (refused) return refused
  account.subscriptions.set(caller.app.id, String(url))
  return { success: true }
}

function unsubscribe({ world, caller, method, id }: AccountCall): Result {
  const account = openAccount(world, caller, { method, id })
  if ('body' in account) return account
  account.subscriptions.delete(caller.app.id)
  return { success: true }
}

/** Sets or removes the override of a number. */
async function setNumber({ context, world, caller, method, id, body }: AccountCall): Promise<Result> {
  const number = openNumber(world, caller, { method, id })
  if ('body' in number) return number
  const configuration = body.webhook_configuration as JsonObject | undefined
  if (configuration === undefined) return refusals.invalidParameter('The parameter webhook_configuration is required.')
  if (number.is_on_biz_app) return refusals.sharedNumber()
  const { override_callback_uri: url, verify_token } = configuration
  if (url === '') {
    number.override = null
    return { success: true }
  }
  const refused = await refuseAddress(context, url, verify_token)
  if (refused) return refused
  number.override = String(url)
  return { success: true }
}
