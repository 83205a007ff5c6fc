import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type {
  Credentials,
  LinkedLibrary,
  LinkedSocket,
  NetworkMessage,
  SocketConfig,
  Stanza,
} from '../../../src/channels/linked-device/library.js'
import type { JsonObject } from '../../../src/lib/text/json.js'

// Replaces the library that links devices. Processes without the test code load it by its path. Its network is the one
// of network.ts: lines of JSON over TCP.

/** A message from a device to the network. */
export type FromDevice =
  | { type: 'hello'; device: string; isLinked: boolean; pid: number }
  /** `count`: the number of messages that the device has sent to this address, stored among its keys. */
  | { type: 'message'; id: string; jid: string; content: JsonObject; count: number }
  | { type: 'received'; id: string }
  | { type: 'logout' }

/** A message from the network to a device. */
export type ToDevice =
  | { type: 'code'; text: string }
  | { type: 'linked'; me: NonNullable<Credentials['me']> }
  | { type: 'open' }
  | { type: 'close'; code: number }
  | { type: 'ack'; id: string }
  /** An event of the library, as it is. */
  | { type: 'event'; name: string; data: unknown }
  | {
      type: 'message'
      key: JsonObject & { id: string }
      pushName: string
      messageTimestamp: number
      message: JsonObject
    }

type ScriptedCredentials = Credentials & { device: string }

const CLOSED = 428

export function makeWASocket({ auth, waWebSocketUrl = '' }: SocketConfig): LinkedSocket {
  const creds = auth.creds as ScriptedCredentials
  const line = connect(Number(new URL(waWebSocketUrl).port), '127.0.0.1')
  const acks = new Map<string, (stanza: Stanza) => void>()
  let lastSend: Promise<unknown> = Promise.resolve()
  let isClosed = false
  const ev: LinkedSocket['ev'] = { emit: () => true }

  function tell(message: FromDevice): void {
    line.write(`${JSON.stringify(message)}\n`)
  }

  function close(code: number): void {
    if (isClosed) return
    isClosed = true
    line.destroy()
    ev.emit('connection.update', { connection: 'close', lastDisconnect: { error: failure(code) } })
  }

  function hear(message: ToDevice): void {
    if (isClosed) return
    switch (message.type) {
      case 'code':
        ev.emit('connection.update', { qr: message.text })
        break
      case 'linked':
        Object.assign(creds, { me: message.me, account: {} })
        ev.emit('creds.update', { me: message.me })
        break
      case 'open':
        ev.emit('connection.update', { connection: 'open' })
        break
      case 'close':
        close(message.code)
        break
      case 'event':
        ev.emit(message.name, message.data)
        break
      case 'ack':
        acks.get(message.id)?.({ tag: 'ack', attrs: { id: message.id } })
        break
      case 'message': {
        const { type: _, ...received } = message
        ev.emit('messages.upsert', { type: 'notify', messages: [received] })
        tell({ type: 'received', id: message.key.id })
      }
    }
  }

  async function send(jid: string, content: JsonObject, id: string) {
    if (isClosed) throw failure(CLOSED)
    const { [jid]: before } = await auth.keys.get('session', [jid])
    const count = Number((before as JsonObject | undefined)?.count ?? 0) + 1
    await auth.keys.set({ session: { [jid]: { count } } })
    if (isClosed) throw failure(CLOSED)
    tell({ type: 'message', id, jid, content, count })
    return { key: { remoteJid: jid, fromMe: true, id }, message: { conversation: String(content.text ?? '') } }
  }

  line.on('connect', () => {
    tell({ type: 'hello', device: creds.device, isLinked: creds.account !== undefined, pid: process.pid })
  })
  line.on('error', () => close(CLOSED))
  line.on('close', () => close(CLOSED))
  createInterface({ input: line })
    .on('line', (text) => hear(JSON.parse(text) as ToDevice))
    .on('error', () => undefined)

  return {
    ev,
    ws: new EventEmitter(),
    signalRepository: { lidMapping: { getPNForLID: async () => null } },
    end: () => close(CLOSED),
    logout: async () => {
      await new Promise<void>((resolve) => {
        line.write(`${JSON.stringify({ type: 'logout' } satisfies FromDevice)}\n`, () => resolve())
      })
      close(401)
    },
    requestPairingCode: async () => 'ABCD1234',
    sendMessage: (jid, content, { messageId }) => {
      const sent = lastSend.then(() => send(jid, content, String(messageId)))
      lastSend = sent.catch(() => undefined)
      return sent
    },
    waitForMessage: (id, timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs, undefined)
        acks.set(id, (stanza) => {
          clearTimeout(timer)
          resolve(stanza)
        })
      }),
    executeUSyncQuery: async () => ({ list: [] }),
    groupMetadata: async () => ({}),
    profilePictureUrl: async () => undefined,
    sendPresenceUpdate: async () => undefined,
    readMessages: async () => undefined,
    chatModify: async () => undefined,
    rejectCall: async () => undefined,
  }
}

export function initAuthCreds(): ScriptedCredentials {
  return { device: randomUUID() }
}

export const BufferJSON: LinkedLibrary['BufferJSON'] = {
  replacer: (_key, value) => value,
  reviver: (_key, value) => value,
}

export const proto: LinkedLibrary['proto'] = {
  Message: {
    fromObject: (message) => message as NetworkMessage,
    AppStateSyncKeyData: { fromObject: (value) => value },
  },
}

export async function downloadContentFromMessage(): Promise<never> {
  throw new Error('The scripted network has no files')
}

export class USyncQuery {
  withContactProtocol = () => this
  withLIDProtocol = () => this
  withUser = () => this
}

export class USyncUser {
  withPhone = () => this
}

export async function fetchLatestWaWebVersion(): ReturnType<LinkedLibrary['fetchLatestWaWebVersion']> {
  return { version: [2, 3000, 0], isLatest: false }
}

function failure(statusCode: number): Error {
  return Object.assign(new Error(`closed with ${statusCode}`), { output: { statusCode } })
}
