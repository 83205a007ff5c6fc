import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorMessage } from '../../src/lib/text/error-message.js'
import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { accountsControl } from '../accounts/control.js'
import { refuseUnasked } from '../accounts/phone-data.js'
import type { CallbackContent } from '../callbacks/batches.js'
import { firstAttempt } from '../callbacks/first-attempt.js'
import { escapeJson } from '../callbacks/signing.js'
import type { Context } from '../context.js'
import { readCall } from '../inbound/call.js'
import { echoChange, readEcho } from '../inbound/echo.js'
import { readGroupChange } from '../inbound/group.js'
import { historyChanges, readHistory } from '../inbound/history.js'
import { withMedia } from '../inbound/media.js'
import { inboundChange, readInbound } from '../inbound/message.js'
import {
  type BusinessNumber,
  findNumber,
  metadataOf,
  publicNumber,
  readNumber,
  unknownNumber,
} from '../numbers/business-numbers.js'
import { isUserId, networkId, phoneDigits } from '../numbers/phone-numbers.js'
import { phonesControl } from '../phones/control.js'
import { findPhone, namesPhone, notOpen, publicPhone, readPhone } from '../phones/phone.js'
import type { SentMessage } from '../sending/message-record.js'
import { readSettings } from '../settings.js'
import { storefrontControl } from '../storefront/control.js'
import { templatesControl } from '../templates/control.js'
import { type Answer, answer, readRepeat, withBody } from './answer.js'
import { invalidField, invalidQuery, isProblem, missingField, type Problem, problem } from './problems.js'
import { recipientsControl } from './recipients.js'

type NumberRoute = { Params: { phoneNumberId: string } }
type MessagesRoute = { Querystring: Record<string, string | string[] | undefined> }
type MediaRoute = { Querystring: { phone_number_id?: string | string[] } }

/** The fields whose values name the business number in `metadata`. */
const fieldsOfNumbers = new Set([
  ...['messages', 'user_id_update', 'user_preferences', 'calls', 'smb_message_echoes', 'smb_app_state_sync', 'history'],
  ...['standby', 'automatic_events', 'group_lifecycle_update', 'group_participants_update', 'group_settings_update'],
  ...['group_status_update'],
])

const defaultListLimit = 1_000
const maxListLimit = 1_000_000
const defaultIdleMs = 10_000
const maxIdleMs = 60_000

/** The control API under `/_sim`. With a token, every call must send it as bearer token. */
export function simulatorControl(app: FastifyInstance, context: Context, token: string | undefined): void {
  if (token !== undefined) app.addHook('onRequest', (request, reply) => requireToken(request, reply, token))
  app.setErrorHandler((error, _request, reply) => answer(reply, problemOf(error)))
  app.setNotFoundHandler((request, reply) =>
    answer(reply, problem(404, 'Not found', `There is no ${request.method} ${request.url.split('?')[0]}`)),
  )

  app.get('/numbers', () => ({ success: true, numbers: Array.from(context.numbers.values(), publicNumber) }))
  app.put<NumberRoute>('/numbers/:phoneNumberId', (request, reply) =>
    withBody(request, reply, (body) => register(context, request.params.phoneNumberId, body)),
  )
  app.delete<NumberRoute>('/numbers/:phoneNumberId', (request, reply) =>
    answer(reply, unregister(context, request.params.phoneNumberId)),
  )
  app.post('/inbound', (request, reply) => withBody(request, reply, (body) => receiveInbound(context, body)))
  app.post('/echo', (request, reply) => withBody(request, reply, (body) => writeOnPhone(context, body)))
  app.post('/history', (request, reply) => withBody(request, reply, (body) => postHistory(context, body)))
  app.post('/call', (request, reply) => withBody(request, reply, (body) => receiveCall(context, body)))
  app.post('/group', (request, reply) => withBody(request, reply, (body) => changeGroup(context, body)))
  app.post('/callback', (request, reply) => withBody(request, reply, (body) => sendCallback(context, body)))
  app.get<MessagesRoute>('/messages', (request, reply) => answer(reply, listMessages(context, request.query)))
  app.get<MediaRoute>('/media', (request, reply) => answer(reply, listMedia(context, request.query)))
  accountsControl(app, context)
  templatesControl(app, context)
  recipientsControl(app, context)
  phonesControl(app, context)
  storefrontControl(app, context)
  app.get('/settings', () => ({ success: true, settings: context.settings }))
  app.post('/settings', (request, reply) => withBody(request, reply, (body) => changeSettings(context, body)))
  app.post('/reset', (request, reply) => withBody(request, reply, (body) => reset(context, body)))
  app.post('/idle', (request, reply) => withBody(request, reply, (body) => waitUntilIdle(context, body)))
}

function register(context: Context, phoneNumberId: string, body: JsonObject): Answer {
  const number = readNumber(phoneNumberId, body)
  if (isProblem(number)) return number
  const phone = readPhone(phoneNumberId, body)
  if (phone !== null && isProblem(phone)) return phone
  // A service does not decide where the callbacks of a real number go.
  const known = context.world.numbers.has(phoneNumberId) ? context.numbers.get(phoneNumberId) : undefined
  if (known) return { success: true, number: publicNumber(known) }
  if (context.settings.strict && phone === null) return { success: true, number: null }
  const current = phone === null ? null : (context.phones.get(phoneNumberId) ?? phone)
  if (current === null) context.phones.delete(phoneNumberId)
  else context.phones.set(phoneNumberId, current)
  if (current?.number) number.display_phone_number = current.number
  context.numbers.set(phoneNumberId, number)
  context.templates.open(number.business_account_id)
  context.sender.numberChanged(phoneNumberId)
  return { success: true, number: publicNumber(number), ...(current ? { phone: publicPhone(current) } : {}) }
}

function unregister(context: Context, phoneNumberId: string): Answer {
  if (!context.numbers.delete(phoneNumberId)) return unknownNumber(phoneNumberId)
  context.phones.delete(phoneNumberId)
  context.sender.numberChanged(phoneNumberId)
  return { success: true }
}

async function receiveInbound(context: Context, body: JsonObject): Promise<Answer> {
  const number = findReceiver(context, body)
  if (isProblem(number)) return number
  const repeat = readRepeat(body)
  if (typeof repeat !== 'boolean') return repeat
  const inbound = readInbound(body)
  if (isProblem(inbound)) return inbound
  const message = await withMedia(context, number.phone_number_id, inbound.message)
  if (isProblem(message)) return message
  const at = Number(message.timestamp) * 1_000
  const { group_id: groupId } = message
  const people = [message.from && networkId(message.from), message.from_user_id].filter(
    (sender) => sender !== undefined,
  )
  if (typeof groupId === 'string') addMembers(context, groupId, people.slice(0, 1))
  for (const sender of typeof groupId === 'string' ? [groupId] : people) {
    if (!sender) continue
    context.limits?.recordInbound(number.phone_number_id, sender, at)
    context.blocks.recordInbound(number.phone_number_id, sender, at)
  }
  const { from, from_user_id: userId } = message
  if (from && userId && !isUserId(from)) context.userIds.set(networkId(from), userId)
  const attempt = await firstAttempt(
    context,
    number.phone_number_id,
    { kind: 'change', change: inboundChange(number, { ...inbound, message }) },
    repeat,
  )
  return { success: true, message_id: message.id, ...attempt }
}

/** Reports a message that was written on the phone of a business number. It opens no window and has no statuses. */
async function writeOnPhone(context: Context, body: JsonObject): Promise<Answer> {
  const given = readGiven(context, body)
  if (isProblem(given)) return given
  const { number, repeat } = given
  const echo = readEcho(body)
  if (isProblem(echo)) return echo
  const message = await withMedia(context, number.phone_number_id, echo.message)
  if (isProblem(message)) return message
  const change = echoChange(number, { ...echo, message })
  const attempt = await firstAttempt(context, number.phone_number_id, { kind: 'change', change }, repeat)
  return { success: true, message_id: message.id, ...attempt }
}

/** Posts the history of the phone of a business number, or that the business does not share it. */
async function postHistory(context: Context, body: JsonObject): Promise<Answer> {
  const number = findNumber(context.numbers, body)
  if (isProblem(number)) return number
  const history = readHistory(body)
  if (isProblem(history)) return history
  const unasked = refuseUnasked(context, number.phone_number_id, 'history')
  if (unasked) return unasked
  for (const one of history.threads.flatMap(({ messages }) => messages)) {
    const message = await withMedia(context, number.phone_number_id, one.message)
    if (isProblem(message)) return message
    one.message = message
  }
  const changes = historyChanges(number, history, Math.floor(Date.now() / 1_000))
  let delivered = 0
  for (const change of changes) {
    const attempt = await firstAttempt(context, number.phone_number_id, { kind: 'change', change }, false)
    if (attempt.delivered) delivered += 1
  }
  return { success: true, callbacks: changes.length, delivered }
}

/** Reports a call. One by the person opens the 24-hour window, answered or not. */
async function receiveCall(context: Context, body: JsonObject): Promise<Answer> {
  const given = readGiven(context, body)
  if (isProblem(given)) return given
  const { number, repeat } = given
  const call = readCall(number, body)
  if (isProblem(call)) return call
  const { from, user_id: userId, direction = 'inbound' } = body
  if (direction === 'inbound') {
    const digits = typeof from === 'string' ? (phoneDigits(from) ?? null) : null
    if (digits) context.limits?.recordInbound(number.phone_number_id, networkId(digits), Date.now())
    if (typeof userId === 'string') context.limits?.recordInbound(number.phone_number_id, userId, Date.now())
  }
  let attempt = { delivered: false, status: null as number | null }
  for (const change of call.changes) {
    attempt = await firstAttempt(context, number.phone_number_id, { kind: 'change', change }, repeat)
  }
  return { success: true, call_id: call.id, ...attempt }
}

/** Reports a change of a group. */
async function changeGroup(context: Context, body: JsonObject): Promise<Answer> {
  const given = readGiven(context, body)
  if (isProblem(given)) return given
  const { number, repeat } = given
  const group = readGroupChange(number, body)
  if (isProblem(group)) return group
  addMembers(context, group.groupId, group.joined)
  for (const member of group.left) context.groupMembers.get(group.groupId)?.delete(networkId(member))
  const { change } = group
  return { success: true, ...(await firstAttempt(context, number.phone_number_id, { kind: 'change', change }, repeat)) }
}

function addMembers({ groupMembers }: Context, groupId: string, members: readonly string[]): void {
  const known = groupMembers.get(groupId) ?? new Set()
  for (const member of members) known.add(isUserId(member) ? member : networkId(member))
  groupMembers.set(groupId, known)
}

/**
 * Finds the number that receives a message, named by its id or, for a phone, by its instance. A phone that is not
 * linked receives none.
 */
function findReceiver({ numbers, phones }: Context, body: JsonObject): BusinessNumber | Problem {
  const named = namesPhone(body) ? findPhone(phones, body) : null
  if (named && isProblem(named)) return named
  const number = findNumber(numbers, named ?? body)
  if (isProblem(number)) return number
  const phone = phones.get(number.phone_number_id)
  return phone && phone.state !== 'open' ? notOpen(phone) : number
}

/** The number that reports, and whether its callback is repeated until the service takes it. */
function readGiven({ numbers }: Context, body: JsonObject): { number: BusinessNumber; repeat: boolean } | Problem {
  const number = findNumber(numbers, body)
  if (isProblem(number)) return number
  const repeat = readRepeat(body)
  return typeof repeat === 'boolean' ? { number, repeat } : repeat
}

async function sendCallback(context: Context, body: JsonObject): Promise<Answer> {
  const given = readGiven(context, body)
  if (isProblem(given)) return given
  const { number, repeat } = given
  const unasked = body.field === 'smb_app_state_sync' && refuseUnasked(context, number.phone_number_id, body.field)
  if (unasked) return unasked
  const content = readCallback(number, body)
  if (isProblem(content)) return content
  return { success: true, ...(await firstAttempt(context, number.phone_number_id, content, repeat)) }
}

/**
 * Reads the callback to send. A string in `body` is sent unchanged. The value of a field that belongs to a number gets
 * product and metadata if it lacks them.
 */
function readCallback(
  number: BusinessNumber,
  { value, body, field = 'messages' }: JsonObject,
): CallbackContent | Problem {
  if (typeof field !== 'string') return invalidField('field must be a string')
  if (body !== undefined) return { kind: 'body', bytes: typeof body === 'string' ? body : escapeJson(body) }
  if (value === undefined) return missingField('value (or body)')
  if (!fieldsOfNumbers.has(field) || !isJsonObject(value)) return { kind: 'change', change: { value, field } }
  const filled = { messaging_product: 'whatsapp', metadata: metadataOf(number), ...value }
  return { kind: 'change', change: { value: filled, field } }
}

function listMessages(context: Context, query: MessagesRoute['Querystring']): Answer {
  const { to, phone_number_id: phoneNumberId, limit = String(defaultListLimit) } = query
  const count = typeof limit === 'string' && /^\d{1,7}$/.test(limit) ? Number(limit) : -1
  if (count < 0 || count > maxListLimit) return invalidQuery(`limit must be a whole number from 0 to ${maxListLimit}`)
  if (Array.isArray(to) || Array.isArray(phoneNumberId)) return invalidQuery('to and phone_number_id may be given once')
  const recipient = to === undefined ? undefined : (phoneDigits(to) ?? to)
  const { total, messages } = context.record.find(
    (message) =>
      (recipient === undefined || message.to === recipient || message.wa_id === recipient) &&
      (phoneNumberId === undefined || message.phone_number_id === phoneNumberId),
    count,
  )
  const { accepted, refused } = context.record
  return { success: true, total, accepted, refused, messages: messages.map(shownMessage) }
}

function shownMessage(message: SentMessage): object {
  return { ...message, payload: JSON.parse(message.payload), accepted_at: new Date(message.accepted_at).toISOString() }
}

function listMedia(context: Context, { phone_number_id: phoneNumberId }: MediaRoute['Querystring']): Answer {
  if (Array.isArray(phoneNumberId)) return invalidQuery('phone_number_id may be given once')
  const media = context.media.uploads(phoneNumberId)
  return { success: true, total: media.length, media }
}

function changeSettings(context: Context, body: JsonObject): Answer {
  const changes = readSettings(body)
  if (isProblem(changes)) return changes
  Object.assign(context.settings, changes)
  if (changes.seed !== undefined) context.random.restart(changes.seed)
  return { success: true, settings: context.settings }
}

async function reset(context: Context, { numbers = false }: JsonObject): Promise<Answer> {
  if (typeof numbers !== 'boolean') return invalidField('numbers must be true or false')
  context.reports.reset()
  context.sender.reset()
  context.record.reset()
  context.magic.reset()
  context.magicMedia.reset()
  context.limits?.reset()
  context.blocks.reset()
  context.failures.clear()
  context.userIds.clear()
  context.groupMembers.clear()
  context.templates.reset()
  context.orders.reset()
  for (const phone of context.phones.values()) phone.commands = []
  Object.assign(context.settings, context.initialSettings)
  context.random.restart(context.initialSettings.seed)
  if (numbers) {
    context.numbers.clear()
    context.phones.clear()
    context.world.clear()
    context.templates.clear()
  }
  await context.media.reset()
  return { success: true }
}

async function waitUntilIdle(context: Context, body: JsonObject): Promise<Answer> {
  const timeoutMs = body.timeout_ms ?? defaultIdleMs
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0 && timeoutMs <= maxIdleMs)) {
    return invalidField(`timeout_ms must be a number from 0 to ${maxIdleMs}`)
  }
  const pending = await context.idle.wait(timeoutMs)
  return { success: pending === 0, pending }
}

async function requireToken(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): Promise<FastifyReply | undefined> {
  const given = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1]
  if (given === undefined) {
    return answer(reply, problem(401, 'Authorization required', 'The control API requires a bearer token'))
  }
  if (!timingSafeEqual(digest(given), digest(token))) {
    return answer(reply, problem(401, 'Invalid token', 'The bearer token is not valid'))
  }
  return undefined
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function problemOf(error: unknown): Problem {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status === 413) return problem(413, 'Payload too large', 'The body may have at most 4 MB')
  if (status >= 400 && status < 500) return problem(status, 'Bad request', error instanceof Error ? error.message : '')
  return problem(500, 'Internal server error', errorMessage(error))
}
