import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../src/upstream/limits.js'
import type { BlockedUser, BlockUsersResponse, CallbackError } from '../../src/upstream/wire.js'
import { checkSender } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { refuse } from '../errors/refuse.js'
import { isUserId, networkId, phoneDigits } from '../numbers/phone-numbers.js'

type Route = { Params: { phoneNumberId: string } }

/** A person of a request: as given, by which name it is known, and how the answer names it. */
interface Person {
  id: string
  named: BlockedUser
}

const path = '/:version(^v\\d+\\.\\d+$)/:phoneNumberId/block_users'
const { atOnce } = UPSTREAM_LIMITS.blocked

/** `/{phone_number_id}/block_users`: block, unblock and list people. */
export function blockingApi(app: FastifyInstance, context: Context): void {
  app.post<Route>(path, (request, reply) => change(context, request, reply, block))
  app.delete<Route>(path, (request, reply) => change(context, request, reply, unblock))
  app.get<Route>(path, (request, reply) => {
    const { phoneNumberId } = request.params
    const refusal = checkSender(context, phoneNumberId, request.headers.authorization)
    if (refusal) return refuse(reply, refusal)
    const data = context.blocks.list(phoneNumberId).map((id) => ({ messaging_product: 'whatsapp', ...nameOf(id) }))
    return reply.send({ data })
  })
}

type Change = (context: Context, phoneNumberId: string, people: Person[]) => BlockUsersResponse['block_users']

/** In part refused, the answer has both lists, and an error. */
function change(
  context: Context,
  { params: { phoneNumberId }, headers, body }: FastifyRequest<Route>,
  reply: FastifyReply,
  work: Change,
): FastifyReply {
  const refusal = checkSender(context, phoneNumberId, headers.authorization)
  if (refusal) return refuse(reply, refusal)
  const people = readPeople(parseJsonObject(typeof body === 'string' ? body : ''))
  if (!Array.isArray(people)) return refuse(reply, people)
  const lists = work(context, phoneNumberId, people)
  const answer = { messaging_product: 'whatsapp', block_users: lists }
  if (!lists.failed_users?.length) return reply.send(answer)
  const { status, body: error } = refusals.notAllBlocked()
  return reply.code(status).send({ ...answer, ...error })
}

function readPeople(body: JsonObject | null): Person[] | Refusal {
  if (!body) return refusals.invalidParameter('The request body is not a JSON object.')
  const { messaging_product: product, block_users: given } = body
  if (product !== 'whatsapp') return refusals.invalidParameter('Param messaging_product must be one of {WHATSAPP}.')
  if (!Array.isArray(given) || given.length < 1 || given.length > atOnce) {
    return refusals.invalidParameter(`Param block_users must be an array of 1 to ${atOnce} users.`)
  }
  const people = given.map(readPerson)
  const wrong = people.indexOf(null)
  return wrong === -1
    ? people.filter((person) => person !== null)
    : refusals.invalidParameter(`Param block_users[${wrong}] must have a valid user or user_id.`)
}

function readPerson(given: unknown): Person | null {
  if (!isJsonObject(given)) return null
  const { user, user_id: userId } = given
  if (typeof userId === 'string' && isUserId(userId)) {
    return { id: userId, named: { input: userId, user_id: userId } }
  }
  const digits = typeof user === 'string' ? phoneDigits(user) : null
  if (!digits) return null
  const id = networkId(digits)
  return { id, named: { input: String(user), wa_id: id } }
}

function nameOf(id: string): { wa_id: string } | { user_id: string } {
  return isUserId(id) ? { user_id: id } : { wa_id: id }
}

function block({ blocks, numbers }: Context, phoneNumberId: string, people: Person[]) {
  const own = networkId(phoneDigits(numbers.get(phoneNumberId)?.display_phone_number ?? '') ?? '')
  const failed = people.flatMap(({ id, named }) => {
    const error = whyNot(blocks, phoneNumberId, id, own)
    if (error === null) blocks.block(phoneNumberId, id)
    return error === null ? [] : [{ ...named, errors: [error] }]
  })
  const refused = new Set(failed.map(({ input }) => input))
  const added = people.filter(({ named }) => !refused.has(named.input)).map(({ named }) => named)
  return { added_users: added, ...(failed.length > 0 && { failed_users: failed }) }
}

function whyNot(blocks: Context['blocks'], phoneNumberId: string, id: string, own: string): CallbackError | null {
  if (id === own) return failure(131021, 'Sender and recipient is the same', 'A number cannot block itself')
  if (blocks.isFull(phoneNumberId) && !blocks.has(phoneNumberId, id)) {
    return failure(139101, 'Blocklist limit reached', 'The blocklist of this number is full')
  }
  if (blocks.isRecent(phoneNumberId, id, Date.now())) return null
  return failure(131047, 'Re-engagement required', 'User has not messaged in the last 24 hours')
}

function failure(code: number, message: string, details: string): CallbackError {
  return { code, message, error_data: { details } }
}

function unblock({ blocks }: Context, phoneNumberId: string, people: Person[]) {
  for (const { id } of people) blocks.unblock(phoneNumberId, id)
  return { removed_users: people.map(({ named }) => named) }
}
