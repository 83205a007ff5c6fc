import { sleep } from '../../lib/async/backoff.js'
import { asObjects, type JsonObject } from '../../lib/text/json.js'
import { type Call, expectStatus } from './client.js'

/** The participants and means of a demo conversation. */
export interface Stage {
  call: Call
  apiKey: string
  adminToken: string
  /** The organization's number at the sandbox. */
  phoneNumberId: string
  /** Determines the ids of customers' messages, so that a repeated start creates nothing twice. */
  organizationId: string
  signal: AbortSignal
}

/** A customer of the demo: full name, and number in digits. */
export interface Customer {
  name: string
  number: string
}

/** One message of a conversation; `id` is its name in the demo. */
export type Line =
  | { by: 'customer'; id: string; text: string }
  /** `isReply`: quotes the customer's last message. */
  | { by: 'shop'; id: string; text: string; isReply?: boolean }
  /** Reacts to the shop's last message. */
  | { by: 'customer'; id: string; emoji: string }

const TIMEOUT_MS = 30_000
const LOOK_AGAIN_MS = 50

/** Plays a conversation through the API. Messages that exist are skipped, however an earlier try ended. */
export async function playConversation(stage: Stage, customer: Customer, lines: readonly Line[]): Promise<void> {
  for (const line of lines) {
    const messages = await readMessages(stage, customer)
    if (holds(messages, line)) continue
    if (line.by === 'customer') await write(stage, customer, line, messages)
    else await answer(stage, customer, line, messages)
  }
}

async function write(
  stage: Stage,
  customer: Customer,
  line: Extract<Line, { by: 'customer' }>,
  messages: JsonObject[],
): Promise<void> {
  const content = 'text' in line ? { type: 'text', text: { body: line.text } } : reactionTo(messages, line.emoji)
  if (content === null) return
  const { call, adminToken, phoneNumberId, organizationId } = stage
  const message = {
    id: `wamid.demo.${organizationId}.${line.id}`,
    from: customer.number,
    name: customer.name,
    ...content,
  }
  const body = { phone_number_id: phoneNumberId, ...message }
  expectStatus(await call('POST', '/_sim/inbound', { token: adminToken, body }), [200], 'POST /_sim/inbound')
  await waitFor(stage, async () => holds(await readMessages(stage, customer), line))
}

/** Null if the upstream does not know the shop's message, for example after a start that was killed while sending. */
function reactionTo(messages: JsonObject[], emoji: string): JsonObject | null {
  const target = messages.findLast((message) => isByShop(message) && message.message_id !== null)
  return target ? { type: 'reaction', reaction: { message_id: target.message_id, emoji } } : null
}

async function answer(
  { call, apiKey }: Stage,
  { number }: Customer,
  { id, text, isReply }: Extract<Line, { by: 'shop' }>,
  messages: JsonObject[],
): Promise<void> {
  const question = isReply ? messages.findLast((message) => !isByShop(message)) : undefined
  const reply = question ? { context_message_id: question.id } : {}
  const body = { phone_number: number, message_type: 'text', text, ...reply }
  const sent = await call('POST', '/send-chat', { token: apiKey, idempotencyKey: `demo-${id}`, body })
  // A message with an unknown outcome is in the conversation all the same.
  if (sent.body.error !== 'Outcome unknown') expectStatus(sent, [200], 'POST /send-chat')
}

async function readMessages({ call, apiKey }: Stage, { number }: Customer): Promise<JsonObject[]> {
  const path = `/conversations?chatNumber=${number}&limit=100&ascending=true`
  const body = expectStatus(await call('GET', path, { token: apiKey }), [200], 'GET /conversations')
  return asObjects(body.messages)
}

function holds(messages: JsonObject[], line: Line): boolean {
  const saidByShop = line.by === 'shop'
  if ('text' in line)
    return messages.some((message) => message.message === line.text && isByShop(message) === saidByShop)
  return messages.some(({ reactions }) => asObjects(reactions).some(({ emoji }) => emoji === line.emoji))
}

function isByShop({ sender_type }: JsonObject): boolean {
  return sender_type !== 'user-chat'
}

/** A customer's message arrives when a worker has processed it. */
async function waitFor({ signal }: Stage, isThere: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS
  while (!(await isThere())) {
    if (Date.now() > deadline) throw new Error(`a customer's message did not arrive within ${TIMEOUT_MS / 1_000} s`)
    await sleep(LOOK_AGAIN_MS, signal)
  }
}
