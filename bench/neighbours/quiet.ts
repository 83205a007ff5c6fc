import { newId } from '../../src/lib/bytes/id.js'
import type { InboundText } from '../loads.js'
import { openReceiver } from './receiver.js'
import { createTenant, postInbound, type Stage, succeed, type Tenant, untilTrue } from './stage.js'

/** What is done in a round, in this order. */
export const STEPS = ['send', 'callback', 'webhook', 'conversation', 'search', 'contact'] as const
export type Step = (typeof STEPS)[number]

/** The duration of each step in ms; that of `webhook` begins when the callback is posted. */
export type StepTimes = Record<Step, number>

/** An organization that does a little of everything. */
export interface QuietTenant {
  tenant: Tenant
  /**
   * Sends a text, receives three, waits until its webhook has delivered each, and reads them. Throws if anything is
   * refused, lost, doubled or out of order.
   */
  round(): Promise<StepTimes>
  close(): Promise<void>
}

const NUMBER = '5511987650007'
const RECEIVED = 3

/** Creates the quiet tenant, with a contact who has written already. */
export async function openQuietTenant(stage: Stage): Promise<QuietTenant> {
  const tenant = await createTenant(stage, 'Quiet')
  let delivered: string[] = []
  const receiver = await openReceiver((response, body) => {
    const { type, data }: ShownEvent = JSON.parse(body)
    if (data.contact.chat_id === NUMBER) delivered.push(`${type}: ${data.message.message}`)
    response.writeHead(204).end()
  })
  const { url } = stage
  const { key } = tenant
  const webhook = { url: receiver.url, events: ['message.sent', 'message.received'] }
  await succeed('POST', `${url}/set-webhooks`, { key, body: webhook })
  const expectDelivered = async (expected: readonly string[]) => {
    await untilTrue(`not all of ${expected} were delivered`, async () => delivered.length >= expected.length)
    expectSame('the events', delivered, expected)
    delivered = []
  }
  await receive(stage, tenant, 'Hello')
  await expectDelivered(['message.received: Hello'])

  const get = async (path: string) => (await succeed('GET', `${url}${path}`, { key })).body
  let rounds = 0
  const round = async (): Promise<StepTimes> => {
    const name = `Round ${++rounds}.`
    const received = Array.from({ length: RECEIVED }, (_, index) => `${name} Received ${index + 1}`)
    const send = await timed(() => sendText(stage, tenant, `${name} Sent`))
    for (const text of received.slice(0, -1)) await receive(stage, tenant, text)
    const posted = performance.now()
    const callback = await timed(() => receive(stage, tenant, received.at(-1) ?? ''))
    await expectDelivered([`message.sent: ${name} Sent`, ...received.map((text) => `message.received: ${text}`)])
    const webhook = performance.now() - posted
    const conversation = await timed(async () => {
      const { messages } = await get(`/conversations?chatNumber=${NUMBER}&limit=${RECEIVED + 1}`)
      expectSame('the conversation', textsOf(messages).reverse(), [`${name} Sent`, ...received])
    })
    const search = await timed(async () => {
      const { pagination } = await get(`/conversations?chatNumber=${NUMBER}&query=${encodeURIComponent(name)}`)
      expectSame('the hits', [pagination.totalMessages], [RECEIVED + 1])
    })
    const contact = await timed(async () => {
      expectSame('the contact', [(await get(`/contact?phone_number=${NUMBER}`)).contact.chat_id], [NUMBER])
    })
    await expectAcceptedOnce(stage, tenant, `${name} Sent`)
    return { send, callback, webhook, conversation, search, contact }
  }
  return { tenant, round, close: receiver.close }
}

function sendText({ url }: Stage, { key }: Tenant, text: string): Promise<unknown> {
  return succeed('POST', `${url}/send-chat`, { key, body: { phone_number: NUMBER, message_type: 'text', text } })
}

async function receive(stage: Stage, tenant: Tenant, text: string): Promise<void> {
  const message: InboundText = { from: NUMBER, id: `wamid.${newId()}`, text }
  const { status, body } = await postInbound(stage, tenant, [message])
  if (status !== 200) throw new Error(`the callback of "${text}" was answered ${status}: ${JSON.stringify(body)}`)
}

async function expectAcceptedOnce({ sandboxUrl }: Stage, { phoneNumberId }: Tenant, text: string): Promise<void> {
  const path = `/_sim/messages?phone_number_id=${phoneNumberId}&limit=10`
  const { messages } = (await succeed('GET', `${sandboxUrl}${path}`)).body
  const accepted = messages.filter(
    ({ payload }: { payload: { text?: { body: string } } }) => payload.text?.body === text,
  )
  expectSame(`how often the upstream accepted "${text}"`, [accepted.length], [1])
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

interface ShownEvent {
  type: string
  data: { contact: { chat_id: string }; message: { message: string } }
}

function textsOf(messages: readonly { message: string }[]): string[] {
  return messages.map(({ message }) => message)
}

function expectSame(what: string, actual: readonly unknown[], expected: readonly unknown[]): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${what}: ${is} instead of ${should}`)
}
