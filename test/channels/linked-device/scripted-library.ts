import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { KeyEntry, KeyStore } from '../../../src/channels/linked-device/keys/key-store.js'
import type {
  FoundPerson,
  LinkedLibrary,
  LinkedSocket,
  SocketConfig,
  Stanza,
} from '../../../src/channels/linked-device/library.js'

/** One connection, whose network does what the test says. */
export class ScriptedSocket {
  readonly config: SocketConfig
  readonly calls: { name: string; args: unknown[] }[] = []
  readonly ev: LinkedSocket['ev']
  /** The answer to the next message; undefined: no answer. */
  word: Stanza | undefined = { tag: 'ack', attrs: {} }
  sendError: Error | null = null
  people: FoundPerson[] = []
  phones: Record<string, string> = {}
  /** The error when the number behind an address is requested. */
  directoryErrors: Record<string, Error> = {}
  subject: string | null = null
  /** The network gives the names of groups after this. */
  subjectsHeld: Promise<void> = Promise.resolve()
  private readonly ws = new EventEmitter()
  private areHeld = false

  constructor(config: SocketConfig) {
    this.config = config
    const emitter = new EventEmitter()
    this.ev = { emit: (event, data) => emitter.emit(event, data) }
  }

  /** The network sends an envelope. */
  receive(attrs: Stanza['attrs']): void {
    this.ws.emit('CB:message', { tag: 'message', attrs })
  }

  /** The library raises an event. */
  raise(event: string, data: unknown): void {
    this.ev.emit(event, data)
  }

  open(me: object = { id: '5511999990000:7@s.whatsapp.net', name: 'Shop' }): void {
    Object.assign(this.config.auth.creds, { me, account: {} })
    this.raise('creds.update', { me })
    this.raise('connection.update', { connection: 'open' })
  }

  close(code: number): void {
    const error = Object.assign(new Error(`closed with ${code}`), { output: { statusCode: code } })
    this.raise('connection.update', { connection: 'close', lastDisconnect: { error } })
  }

  /** From now on the network does not answer. */
  holdCalls(): void {
    this.areHeld = true
  }

  called(name: string): unknown[][] {
    return this.calls.filter((call) => call.name === name).map((call) => call.args)
  }

  asSocket(): LinkedSocket {
    const note =
      <Result>(name: string, result: (...args: never[]) => Result) =>
      (...args: unknown[]) => {
        this.calls.push({ name, args })
        return result(...(args as never[]))
      }
    return {
      ev: this.ev,
      ws: this.ws,
      signalRepository: {
        lidMapping: {
          getPNForLID: async (lid) => {
            if (this.directoryErrors[lid]) throw this.directoryErrors[lid]
            return this.phones[lid] ?? null
          },
        },
      },
      end: note('end', () => undefined),
      logout: note('logout', async () => this.close(401)),
      requestPairingCode: note('requestPairingCode', async () => 'ABCD1234'),
      sendMessage: note('sendMessage', async (jid: string, content: object, { messageId }: { messageId: string }) => {
        if (this.sendError) throw this.sendError
        return { key: { remoteJid: jid, fromMe: true, id: messageId }, message: { sent: content } }
      }),
      waitForMessage: note('waitForMessage', async () => this.word),
      executeUSyncQuery: note('executeUSyncQuery', async () => ({ list: this.people })),
      groupMetadata: note('groupMetadata', async () => {
        await this.subjectsHeld
        if (this.subject === null) throw new Error('item-not-found')
        return { subject: this.subject }
      }),
      profilePictureUrl: note('profilePictureUrl', async () => 'https://pps.example/1.jpg'),
      sendPresenceUpdate: note('sendPresenceUpdate', () =>
        this.areHeld ? new Promise(() => undefined) : Promise.resolve(),
      ),
      readMessages: note('readMessages', async () => undefined),
      chatModify: note('chatModify', async () => undefined),
      rejectCall: note('rejectCall', async () => undefined),
    }
  }
}

class ScriptedQuery {
  readonly users: unknown[] = []
  withContactProtocol(): this {
    return this
  }
  withLIDProtocol(): this {
    return this
  }
  withUser(user: unknown): this {
    this.users.push(user)
    return this
  }
}

/** Replaces the library: each connection is a ScriptedSocket, in the order of creation. */
export function createScriptedLibrary() {
  const sockets: ScriptedSocket[] = []
  const listeners = new Set<() => void>()
  let file: Buffer | Error = Buffer.from('hello')
  const library: LinkedLibrary = {
    makeWASocket: (config) => {
      const socket = new ScriptedSocket(config)
      sockets.push(socket)
      for (const listener of listeners) listener()
      return socket.asSocket()
    },
    initAuthCreds: () => ({}),
    BufferJSON: {
      replacer: (_, value) => value,
      reviver: (_, value) => value,
    },
    proto: {
      Message: {
        fromObject: (message) => ({ decoded: message }),
        AppStateSyncKeyData: { fromObject: (value) => ({ appStateKey: value }) },
      },
    },
    downloadContentFromMessage: async () => {
      if (file instanceof Error) throw file
      return Readable.from([file])
    },
    USyncQuery: ScriptedQuery,
    USyncUser: class {
      withPhone(phone: string): unknown {
        return { phone }
      }
    },
    fetchLatestWaWebVersion: async () => ({ version: [2, 3000, 99], isLatest: true }),
  }
  return {
    library,
    sockets,
    serveFile: (content: Buffer | Error) => {
      file = content
    },
    /** Connection number `count`, once it is being created. */
    async socket(count: number): Promise<ScriptedSocket> {
      while (sockets.length < count) {
        await new Promise<void>((resolve) => {
          listeners.add(resolve)
        })
      }
      // Its creator has it now.
      await new Promise(setImmediate)
      return sockets[count - 1] as ScriptedSocket
    },
  }
}

/** A store in memory that records what is written together. */
export function createMemoryStore(credentials: string | null = null) {
  const keys = new Map<string, string>()
  const writes: { credentials: string | null; keys: readonly KeyEntry[] }[] = []
  const state = { credentials, failure: null as Error | null, cleared: 0 }
  const store: KeyStore = {
    load: async () => state.credentials,
    readKeys: async (type, ids) =>
      new Map(ids.flatMap((id) => (keys.has(`${type}/${id}`) ? [[id, keys.get(`${type}/${id}`) as string]] : []))),
    write: async (change) => {
      if (state.failure) throw state.failure
      writes.push(change)
      state.credentials = change.credentials ?? state.credentials
      for (const { type, id, value } of change.keys) {
        if (value === null) keys.delete(`${type}/${id}`)
        else keys.set(`${type}/${id}`, value)
      }
    },
    clear: async () => {
      state.credentials = null
      state.cleared += 1
      keys.clear()
    },
  }
  return { store, writes, keys, state }
}
