import { signBody } from '../../../simulator/callbacks/signing.js'
import type { TestOrganization } from '../../support/world.js'
import { type Answer, call, type Service } from './service.js'

/** A send that a client asked for, and every answer that it got, the first to the last. */
export interface Send {
  key: string
  to: string
  text: string
  answers: Answer[]
}

/** A message that the upstream has told, or tried to tell. */
export interface Inbound {
  id: string
  from: string
  text: string
  acknowledged: boolean
}

/** Numbers between 0 and 1 that the seed decides. */
export type Random = () => number

/** A row of chances that is the same for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The items in an order that chance decides. */
export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item)
}

/**
 * Asks for a send under its Idempotency-Key and notes the answer; a `Request in progress` is asked again, as a client
 * would. Resolves to the answer, or null when none came.
 */
export async function trySend(service: Service, { key }: TestOrganization, send: Send): Promise<Answer | null> {
  const body = { phone_number: send.to, message_type: 'text', text: send.text }
  const answer = await postSend(service, key, send.key, body)
  if (answer) send.answers.push(answer)
  return answer
}

/**
 * Posts to /send-chat, under an Idempotency-Key unless it is null; a `Request in progress` is asked again, as a client
 * would. Resolves to the answer, or null when none came.
 */
export async function postSend(
  service: Service,
  key: string,
  idempotencyKey: string | null,
  body: object,
): Promise<Answer | null> {
  const headers: Record<string, string> = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }
  for (;;) {
    const answer = await call(`${service.url}/send-chat`, 'POST', { key, headers, body }).catch(() => null)
    if (answer?.status !== 409) return answer
  }
}

/** Tells the service of an inbound message. Resolves to whether it was acknowledged; throws when it was refused. */
export async function tellInbound(
  service: Service,
  organization: TestOrganization,
  inbound: Inbound,
): Promise<boolean> {
  const answer = await postInbound(service, organization, inbound)
  if (answer && answer.status !== 200) throw new Error(`the callback was answered ${answer.status}`)
  return answer !== null
}

/** Posts an inbound message, signed as the upstream does it. Resolves to the answer, or null when none came. */
export async function postInbound(
  service: Service,
  organization: TestOrganization,
  inbound: Inbound,
): Promise<Answer | null> {
  const body = JSON.stringify(callbackOf(organization, inbound))
  const headers = { 'x-hub-signature-256': signBody(organization.appSecret, body) }
  const answer = await call(`${service.url}/hooks/upstream`, 'POST', { body, headers }).catch(() => null)
  inbound.acknowledged ||= answer?.status === 200
  return answer
}

/** Works through the tasks with `width` of them under way; ends early when one resolves to false. */
export async function workThrough(tasks: (() => Promise<boolean>)[], width: number): Promise<void> {
  const queue = [...tasks]
  const work = async () => {
    for (let task = queue.shift(); task; task = queue.shift()) if (!(await task())) queue.length = 0
  }
  await Promise.all(Array.from({ length: width }, work))
}

/** The whole conversation with a number, oldest first, read page by page. */
export async function readConversation(service: Service, { key }: TestOrganization, number: string, limit = 100) {
  // biome-ignore lint/suspicious/noExplicitAny: messages as the interface shows them
  const messages: any[] = []
  for (let page = 1; ; page++) {
    const path = `/conversations?chatNumber=${number}&limit=${limit}&ascending=true&page=${page}`
    const { status, body } = await service.request('GET', path, { key })
    if (status === 404) return { messages, total: 0 }
    messages.push(...body.messages)
    if (!body.pagination.hasNextPage) return { messages, total: body.pagination.totalMessages as number }
  }
}

function callbackOf({ businessAccountId, phoneNumberId }: TestOrganization, { id, from, text }: Inbound): object {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
    contacts: [{ wa_id: from, profile: { name: `Person ${from}` } }],
    messages: [{ id, from, timestamp: String(Math.floor(Date.now() / 1_000)), type: 'text', text: { body: text } }],
  }
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: businessAccountId, changes: [{ field: 'messages', value }] }],
  }
}
