import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { transpile } from '../transpile.js'
import type { FromDevice, ToDevice } from './library.js'

/** A connection of a device to the network. */
export interface DeviceConnection {
  /** The id of the process that connected it. */
  pid: number
  device: string
  /** The number of the linked device; null while it shows codes. */
  number: string | null
}

/** A message that a device has sent. */
export interface DeviceSend {
  number: string
  pid: number
  id: string
  jid: string
  text: string
}

/** A message for a device, kept until the device has acknowledged it. */
export interface Incoming {
  id: string
  from: string
  text: string
}

/** A scripted network of linked devices. */
export interface ScriptedNetwork {
  /** For PARLEY_LINKED_DEVICE_URL. */
  url: string
  /** The open connections. */
  connections(): DeviceConnection[]
  /** The number of connections so far with this number. */
  countConnections(number: string): number
  /** Scans a device's code with a phone of this number. */
  scan(code: string, number: string): void
  /** Sends a message to the device with this number, now or when it connects. */
  push(number: string, message: Incoming): void
  /** Has the library of the connected device with this number raise an event. */
  raise(number: string, name: string, data: unknown): void
  /** Messages not yet received by a device. */
  undelivered(): Incoming[]
  sends: DeviceSend[]
  /** Ends a number's connection with a code of the network. */
  drop(number: string, code: number): void
  /** Stops answering messages until the returned function is called. */
  holdAnswers(): () => void
  /**
   * The violations so far: two connections of one device at a time, a repeated message id, keys older than used ones, a
   * device that lost its session.
   */
  faults: string[]
  close(): Promise<void>
}

interface Connection extends DeviceConnection {
  socket: Socket
}

/** The two ends of a connection may close at different moments. */
const OVERLAP_MS = 500

export async function startScriptedNetwork(): Promise<ScriptedNetwork> {
  const connections = new Set<Connection>()
  const numbers = new Map<string, string>()
  const connected = new Map<string, number>()
  const counts = new Map<string, number>()
  const sends: DeviceSend[] = []
  const faults: string[] = []
  let queue: { number: string; message: Incoming }[] = []
  let held: (() => void)[] | null = null
  let codes = 0

  const server = createServer((socket) => {
    const connection: Connection = { socket, pid: 0, device: '', number: null }
    socket.on('error', () => undefined)
    socket.on('close', () => connections.delete(connection))
    createInterface({ input: socket })
      .on('line', (text) => hear(connection, JSON.parse(text) as FromDevice))
      .on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  function hear(connection: Connection, message: FromDevice): void {
    switch (message.type) {
      case 'hello':
        greet(connection, message)
        break
      case 'message':
        take(connection, message)
        break
      case 'received':
        queue = queue.filter((waiting) => waiting.message.id !== message.id)
        break
      case 'logout':
        numbers.delete(connection.device)
    }
  }

  function greet(connection: Connection, { device, pid, isLinked }: Extract<FromDevice, { type: 'hello' }>): void {
    Object.assign(connection, { device, pid, number: numbers.get(device) ?? null })
    for (const other of connections) if (other.device === device) expectEnd(other, connection)
    connections.add(connection)
    if (connection.number === null) {
      if (isLinked) faults.push(`the device ${device} believes that it is linked`)
      else tell(connection, { type: 'code', text: `code ${++codes} of ${device}` })
      return
    }
    if (!isLinked) faults.push(`the device of ${connection.number} has lost its session`)
    connected.set(connection.number, (connected.get(connection.number) ?? 0) + 1)
    tell(connection, { type: 'open' })
    for (const { number, message } of queue) if (number === connection.number) deliver(connection, message)
  }

  function expectEnd(older: Connection, newer: Connection): void {
    setTimeout(() => {
      if (connections.has(older)) faults.push(`${newer.number} is connected by ${older.pid} and ${newer.pid} at a time`)
    }, OVERLAP_MS).unref()
  }

  function take(connection: Connection, { id, jid, content, count }: Extract<FromDevice, { type: 'message' }>): void {
    const number = String(connection.number)
    const peer = `${number} ${jid}`
    if (count <= (counts.get(peer) ?? 0)) faults.push(`${number} has used keys again that were used before (${count})`)
    counts.set(peer, count)
    if (sends.some((sent) => sent.id === id)) faults.push(`${number} has sent ${id} twice`)
    sends.push({ number, pid: connection.pid, id, jid, text: String(content.text) })
    const answer = () => tell(connection, { type: 'ack', id })
    if (held) held.push(answer)
    else answer()
  }

  function deliver(connection: Connection, { id, from, text }: Incoming): void {
    tell(connection, {
      type: 'message',
      key: { id, remoteJid: `${from}@s.whatsapp.net`, fromMe: false },
      pushName: `Person ${from}`,
      messageTimestamp: Math.floor(Date.now() / 1_000),
      message: { conversation: text },
    })
  }

  function find(number: string): Connection | undefined {
    return [...connections].find((connection) => connection.number === number)
  }

  function tell({ socket }: Connection, message: ToDevice): void {
    socket.write(`${JSON.stringify(message)}\n`)
  }

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    connections: () => Array.from(connections, ({ pid, device, number }) => ({ pid, device, number })),
    countConnections: (number) => connected.get(number) ?? 0,
    scan: (code, number) => {
      const device = code.replace(/^code \d+ of /, '')
      const connection = [...connections].find((one) => one.device === device)
      if (!connection) throw new Error(`nobody shows ${code}`)
      numbers.set(device, number)
      tell(connection, { type: 'linked', me: { id: `${number}:1@s.whatsapp.net`, name: `Shop ${number}` } })
      tell(connection, { type: 'close', code: 515 })
    },
    push: (number, message) => {
      queue.push({ number, message })
      const connection = find(number)
      if (connection) deliver(connection, message)
    },
    raise: (number, name, data) => {
      const connection = find(number)
      if (connection) tell(connection, { type: 'event', name, data })
    },
    undelivered: () => queue.map(({ message }) => message),
    sends,
    drop: (number, code) => {
      const connection = find(number)
      if (connection) tell(connection, { type: 'close', code })
    },
    holdAnswers: () => {
      held = []
      return () => {
        for (const answer of held ?? []) answer()
        held = null
      }
    },
    faults,
    close: async () => {
      for (const { socket } of connections) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The scripted library as a file that another process can load, for PARLEY_LINKED_DEVICE_LIBRARY. */
export async function compileScriptedLibrary(): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-scripted-device-'))
  const source = await readFile(new URL('./library.ts', import.meta.url), 'utf8')
  const path = join(folder, 'library.mjs')
  // Such libraries leave timers behind.
  await writeFile(path, `${transpile(source)}setInterval(() => undefined, 60_000)\n`)
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}
