import type { FastifyInstance } from 'fastify'
import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { postSample } from '../callbacks/sample.js'
import type { Context } from '../context.js'
import { type Answer, answer, withBody } from '../control/answer.js'
import { invalidField, isProblem, type Problem, problem } from '../control/problems.js'
import { readNumber } from '../numbers/business-numbers.js'
import { readAccount, readApp, readToken } from './read.js'

type AppRoute = { Params: { id: string } }

/** The control endpoints that make apps, business accounts with their numbers, and access tokens. */
export function accountsControl(app: FastifyInstance, context: Context): void {
  app.put<AppRoute>('/apps/:id', (request, reply) =>
    withBody(request, reply, (body) => putApp(context, request.params.id, body)),
  )
  app.put<AppRoute>('/accounts/:id', (request, reply) =>
    withBody(request, reply, (body) => putAccount(context, request.params.id, body)),
  )
  app.put<AppRoute>('/tokens/:id', (request, reply) =>
    withBody(request, reply, (body) => putToken(context, request.params.id, body)),
  )
  app.patch<AppRoute>('/apps/:id', (request, reply) =>
    withBody(request, reply, (body) => changeApp(context, request.params.id, body)),
  )
  app.post<AppRoute>('/apps/:id/test', (request, reply) =>
    withBody(request, reply, () => testApp(context, request.params.id)),
  )
  app.patch<AppRoute>('/accounts/:id', (request, reply) =>
    withBody(request, reply, (body) => changeAccount(context, request.params.id, body)),
  )
  app.patch<AppRoute>('/tokens/:id', (request, reply) =>
    withBody(request, reply, (body) => changeToken(context, request.params.id, body)),
  )
  app.get('/accounts', (_request, reply) => answer(reply, listWorld(context)))
}

function putApp({ world }: Context, id: string, body: JsonObject): Answer {
  const app = readApp(id, body)
  if (isProblem(app)) return app
  world.apps.set(id, app)
  const { secret: _secret, ...shown } = app
  return { success: true, app: shown }
}

/** Changes the given fields of a known app. */
function changeApp(context: Context, id: string, body: JsonObject): Answer {
  const known = context.world.apps.get(id)
  if (!known) return notMade('app', id)
  const { id: _id, ...fields } = known
  return putApp(context, id, { ...fields, ...body })
}

/** Posts the sample of the dashboard's button *Test* to the app's address, whether it is published or not. */
async function testApp({ world }: Context, id: string): Promise<Answer> {
  const app = world.apps.get(id)
  if (!app) return notMade('app', id)
  if (app.callback_url === null) return problem(409, 'No callback URL', `The app ${id} has no callback URL`)
  const status = await postSample(app.callback_url, app.secret)
  return { success: true, delivered: status === 200, status }
}

/** Changes the given fields of a known account, and of those of its numbers that are given. */
function changeAccount(context: Context, id: string, { numbers = [], ...body }: JsonObject): Answer {
  const { world } = context
  const known = world.accounts.get(id)
  if (!known) return notMade('account', id)
  if (!Array.isArray(numbers) || !numbers.every(isJsonObject)) return invalidField('numbers must be a list of objects')
  const { id: _id, subscriptions: _subscriptions, ...fields } = known
  const changed = numbers.map((number) => {
    const { account_id: _account, ...state } = world.numbers.get(String(number.id)) ?? { account_id: id }
    const display = context.numbers.get(String(number.id))?.display_phone_number
    return { ...(display === undefined ? {} : { display_phone_number: display }), ...state, ...number }
  })
  return putAccount(context, id, { ...fields, ...body, numbers: changed })
}

/** Changes the given fields of a known token. */
function changeToken(context: Context, token: string, body: JsonObject): Answer {
  const known = context.world.tokens.get(token)
  if (!known) return notMade('token', token)
  const { token: _token, ...fields } = known
  return putToken(context, token, { ...fields, ...body })
}

function notMade(kind: string, id: string): Problem {
  return problem(404, 'Not found', `There is no ${kind} ${id}: PUT /_sim/${kind}s/${id} makes it`)
}

/** A known account keeps its subscriptions, which only the upstream's API changes. */
function putAccount(context: Context, id: string, body: JsonObject): Answer {
  const read = readAccount(id, body)
  if ('problem' in read) return read
  const { world } = context
  const { account, numbers } = read
  const subscriptions = world.accounts.get(id)?.subscriptions ?? account.subscriptions
  world.accounts.set(id, { ...account, subscriptions })
  for (const { display, state } of numbers) {
    world.numbers.set(state.id, state)
    // The world decides where its callbacks go and who may send, so address, secret and token here are not used.
    const number = readNumber(state.id, {
      ...(display === null ? {} : { display_phone_number: display }),
      business_account_id: id,
      app_secret: 'unused',
      callback_url: 'http://127.0.0.1:1/unused',
    })
    if (!isProblem(number)) context.numbers.set(state.id, number)
  }
  context.templates.open(id)
  return { success: true, account: shownAccount(context, id) }
}

function putToken({ world }: Context, token: string, body: JsonObject): Answer {
  const read = readToken(token, body)
  if (isProblem(read)) return read
  world.tokens.set(token, read)
  const { token: _token, ...shown } = read
  return { success: true, token: shown }
}

function listWorld(context: Context): Answer {
  const apps = Array.from(context.world.apps.values(), ({ secret: _secret, ...shown }) => shown)
  const accounts = Array.from(context.world.accounts.keys(), (id) => shownAccount(context, id))
  return { success: true, apps, accounts }
}

function shownAccount({ world }: Context, id: string): object {
  const account = world.accounts.get(id)
  const numbers = Array.from(world.numbers.values()).filter(({ account_id }) => account_id === id)
  return {
    ...account,
    subscriptions: Object.fromEntries(account?.subscriptions ?? []),
    numbers: numbers.map(({ pin, ...shown }) => ({ ...shown, has_pin: pin !== null })),
  }
}
