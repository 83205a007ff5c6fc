import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/index.js'
import type { CallbackEnvelope, InboundMessage, MessageStatus, MessagesValue } from '../../src/upstream/wire.js'
import { useStarted } from './started.js'

export const appSecret = 'app-secret-of-the-test'
export const accessToken = 'token-of-the-test'
export const phoneNumberId = '106540352242922'

export interface Answer<Body = Record<string, unknown>> {
  status: number
  body: Body
}

/** A service that receives callbacks, and refuses those with a wrong signature. */
export interface Receiver {
  url: string
  /** The raw bodies answered with 200, in order of arrival. */
  taken: string[]
  /** The number of posts with a valid signature, accepted or not. */
  posts: number
  /** The number of posts with a wrong signature. */
  forged: number
  /** The HTTP status for the next post; null closes the connection. */
  answer: () => number | null | Promise<number | null>
  envelopes(): CallbackEnvelope[]
  values(): MessagesValue[]
  statuses(): MessageStatus[]
  messages(): InboundMessage[]
  close(): Promise<void>
}

/** A running simulator with one registered number, whose callbacks go to a receiver. */
export interface World {
  simulator: Simulator
  receiver: Receiver
  /** Posts a body to the number's `/messages`. */
  send(body: object, options?: { token?: string | null; number?: string }): Promise<Answer>
  /** Uploads a file, by default with the number's token. */
  upload(
    bytes: Uint8Array<ArrayBuffer>,
    mimeType: string,
    options?: { token?: string | null; number?: string },
  ): Promise<Answer>
  /** Uploads a file and returns its media id. */
  uploaded(bytes: Uint8Array<ArrayBuffer>, mimeType: string): Promise<string>
  /** Sends a text to a recipient. */
  sendText(to: string, body?: string): Promise<Answer>
  control(method: string, path: string, body?: object): Promise<Answer>
  /** Resolves once every callback was accepted. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** A simulator for the tests of this file or `describe`. */
export function useWorld(options?: SimulatorOptions): World {
  return useStarted(() => startWorld(options))
}

export async function startWorld(options: SimulatorOptions = {}): Promise<World> {
  const simulator = await startSimulator(options)
  const receiver = await startReceiver()
  const send: World['send'] = (body, { token = accessToken, number = phoneNumberId } = {}) =>
    call('POST', `${simulator.upstreamUrl}/${number}/messages`, body, token)
  const control: World['control'] = (method, path, body) =>
    call(method, `${simulator.url}/_sim${path}`, body, options.controlToken ?? null)
  const upload: World['upload'] = (bytes, mimeType, { token = accessToken, number = phoneNumberId } = {}) =>
    postForm(`${simulator.upstreamUrl}/${number}/media`, formOf(bytes, mimeType), token)
  await control('PUT', `/numbers/${phoneNumberId}`, registration(receiver.url))
  await control('POST', '/settings', { delay_ms: 1 })
  return {
    simulator,
    receiver,
    send,
    upload,
    uploaded: async (bytes, mimeType) => {
      const { status, body } = await upload(bytes, mimeType)
      if (status !== 200) throw new Error(`The upload was refused: ${JSON.stringify(body)}`)
      return String(body.id)
    },
    sendText: (to, body = 'hello') => send(textTo(to, body)),
    control,
    idle: async () => {
      const { body } = await control('POST', '/idle')
      if (body.success !== true) throw new Error(`Callbacks are still pending: ${body.pending}`)
    },
    close: async () => {
      await simulator.close()
      await receiver.close()
    },
  }
}

export function registration(callbackUrl: string, secret = appSecret): object {
  return {
    display_phone_number: '15550783881',
    business_account_id: '419561257915477',
    access_token: accessToken,
    app_secret: secret,
    callback_url: callbackUrl,
  }
}

export function textTo(to: string, body = 'hello'): object {
  return { messaging_product: 'whatsapp', recipient_type: 'individual', to, type: 'text', text: { body } }
}

/** The form of an upload. */
export function formOf(bytes: Uint8Array<ArrayBuffer>, mimeType: string): FormData {
  const form = new FormData()
  form.set('messaging_product', 'whatsapp')
  form.set('type', mimeType)
  form.set('file', new Blob([bytes], { type: mimeType }), 'file')
  return form
}

export async function postForm(url: string, form: FormData, token: string | null): Promise<Answer> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers, body: form })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** The error in an answer of the upstream. */
export function errorOf(body: Record<string, unknown>) {
  return (body as { error: { code: number; message: string; error_data?: { details?: string }; type: string } }).error
}

/** One JSON call; `token` null sends no Authorization header. */
export async function call(
  method: string,
  url: string,
  body?: object | string,
  token: string | null = null,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

export async function startReceiver(secret = appSecret): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const raw = await readBody(request)
    if (!isSigned(raw, request.headers['x-hub-signature-256'], secret)) {
      receiver.forged += 1
      response.writeHead(401).end()
      return
    }
    receiver.posts += 1
    const status = await receiver.answer()
    if (status === null) {
      request.socket.destroy()
      return
    }
    if (status === 200) receiver.taken.push(raw.toString('utf8'))
    response.writeHead(status).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const values = () =>
    receiver.envelopes().flatMap(({ entry }) => entry.flatMap(({ changes }) => changes.map(messagesValue)))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    taken: [],
    posts: 0,
    forged: 0,
    answer: () => 200,
    envelopes: () => receiver.taken.map((body) => JSON.parse(body) as CallbackEnvelope),
    values,
    statuses: () => values().flatMap((value) => value.statuses ?? []),
    messages: () => values().flatMap((value) => value.messages ?? []),
    close: () => closeServer(server),
  }
  return receiver
}

function messagesValue(change: { value: unknown }): MessagesValue {
  return change.value as MessagesValue
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function isSigned(raw: Buffer, header: string | string[] | undefined, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`)
  const given = Buffer.from(String(header))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
