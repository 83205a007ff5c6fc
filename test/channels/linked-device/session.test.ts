import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { PairingCode } from '../../../src/channels/device.js'
import { KeysNotRead } from '../../../src/channels/linked-device/keys/key-store.js'
import type { PendingWrite } from '../../../src/channels/linked-device/retry-queue.js'
import { type DeviceSession, startDeviceSession } from '../../../src/channels/linked-device/session.js'
import type { DeviceSessionOptions, DeviceState } from '../../../src/channels/linked-device/session-options.js'
import type { DeviceEvent } from '../../../src/channels/linked-device/wire/event.js'
import type { NetworkSignal } from '../../../src/channels/linked-device/wire/signals.js'
import { createMemoryStore, createScriptedLibrary } from './scripted-library.js'

const LINKED = JSON.stringify({ me: { id: '5511999990000:7@s.whatsapp.net', name: 'Shop' }, account: {} })
const SETTINGS = { rejectCalls: false, callAnswer: null, ignoreGroups: false, alwaysOnline: false, readMessages: false }

const PATIENCE_MS = 90_000

interface Wait {
  ms: number
  end(): void
}

let session: DeviceSession | null = null
afterEach(async () => {
  await session?.stop()
  session = null
})

/** A session whose waits end when the test says so. */
function start(credentials: string | null, changes: Partial<DeviceSessionOptions> = {}) {
  const network = createScriptedLibrary()
  const memory = createMemoryStore(credentials)
  const states: DeviceState[] = []
  const codes: PairingCode[] = []
  const events: DeviceEvent[] = []
  const signals: NetworkSignal[] = []
  const left: PendingWrite[] = []
  const waits: Wait[] = []
  /** How long each connection may take until the network accepts it. */
  const patience: Wait[] = []
  const heard = new Set<() => void>()
  const hear = () => {
    for (const listener of heard) listener()
    heard.clear()
  }
  session = startDeviceSession(network.library, {
    store: memory.store,
    onState: async (state) => {
      states.push(state)
      hear()
    },
    onCode: async (code) => {
      codes.push(code)
      hear()
    },
    onMessages: async (more) => {
      events.push(...more)
      hear()
    },
    onSignal: (signal) => {
      signals.push(signal)
      hear()
    },
    onUnrecorded: (delivery) => left.push(delivery),
    findMessage: async () => null,
    openFile: async () => ({ source: { path: '/file' }, mimeType: 'image/png', filename: null }),
    settings: () => SETTINGS,
    log: { info: () => undefined, warn: () => undefined },
    socketUrl: null,
    random: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        const kind = ms === PATIENCE_MS ? patience : waits
        kind.push({ ms, end: resolve })
        hear()
      }),
    ...changes,
  })
  return {
    ...network,
    memory,
    states,
    codes,
    events,
    signals,
    left,
    waits,
    patience,
    run: session.run,
    async until(holds: () => boolean): Promise<void> {
      while (!holds()) {
        await new Promise<void>((resolve) => {
          heard.add(resolve)
        })
      }
    },
  }
}

const person = (message: object, more: object = {}, key: object = {}) => ({
  key: { remoteJid: '5511888887777@s.whatsapp.net', fromMe: false, id: '3EB0AA', ...key },
  message,
  messageTimestamp: 1_700_000_000,
  pushName: 'Ana',
  ...more,
})

it('tells with each message whether the account leaves chats in the archive, as it is set at that time', async () => {
  const device = start(LINKED)
  const socket = await device.socket(1)
  socket.open()
  const told = (id: string) => socket.raise('messages.upsert', { messages: [person({ conversation: id }, {}, { id })] })
  told('before the setting is known')
  const { creds } = socket.config.auth
  creds.accountSettings = { unarchiveChats: true }
  told('taken out')
  creds.accountSettings = { unarchiveChats: false }
  told('kept')
  await device.until(() => device.events.length === 3)
  expect(device.events.map((event) => 'keepsArchived' in event && event.keepsArchived)).toEqual([true, false, true])
})

describe('messages that arrive close together', () => {
  const LID = '77@lid'
  const told = (id: string, type = 'notify', remoteJid = LID) => ({
    type,
    messages: [person({ conversation: id }, {}, { id, remoteJid })],
  })
  const ids = (events: DeviceEvent[]) => events.map(({ key }) => key.id)

  async function open() {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    return { device, socket }
  }

  it('are reported in order of arrival, not in the order in which their keys were found', async () => {
    const { device, socket } = await open()
    for (const id of ['A', 'B', 'C']) socket.receive({ id, from: '77:3@lid' })
    for (const id of ['C', 'A', 'B']) socket.raise('messages.upsert', told(id))
    await device.until(() => device.events.length === 3)
    expect(ids(device.events)).toEqual(['A', 'B', 'C'])
  })

  it('wait for the names of their groups together, not one after the other', async () => {
    const { device, socket } = await open()
    let answer = () => {}
    socket.subject = 'Family'
    socket.subjectsHeld = new Promise((resolve) => {
      answer = resolve
    })
    const groups = ['1@g.us', '2@g.us', '3@g.us']
    for (const group of groups) socket.raise('messages.upsert', told(`in ${group}`, 'notify', group))
    expect(socket.called('groupMetadata')).toEqual(groups.map((group) => [group]))
    expect(device.events).toEqual([])
    answer()
    await device.until(() => device.events.length === 3)
    expect(ids(device.events)).toEqual(groups.map((group) => `in ${group}`))
  })

  it('are in order even if one person is addressed by number and by hidden id', async () => {
    const { device, socket } = await open()
    const number = '5511888887777@s.whatsapp.net'
    socket.receive({ id: 'A', from: LID, sender_pn: number })
    socket.receive({ id: 'B', from: number })
    socket.receive({ id: 'C', from: '5511999990000@s.whatsapp.net', recipient: LID, peer_recipient_pn: number })
    for (const id of ['C', 'A']) socket.raise('messages.upsert', told(id))
    socket.raise('messages.upsert', told('B', 'notify', number))
    await device.until(() => device.events.length === 3)
    expect(ids(device.events)).toEqual(['A', 'B', 'C'])
  })

  it('do not wait for other chats', async () => {
    const { device, socket } = await open()
    socket.receive({ id: 'A', from: LID })
    socket.receive({ id: 'B', from: '78@lid' })
    socket.raise('messages.upsert', told('B', 'notify', '78@lid'))
    await device.until(() => device.events.length === 1)
    expect(ids(device.events)).toEqual(['B'])
  })

  it('wait for earlier ones that waited for the device', async () => {
    const { device, socket } = await open()
    socket.receive({ id: 'old-1', from: LID, offline: '0' })
    socket.receive({ id: 'live', from: LID })
    socket.raise('messages.upsert', told('live'))
    socket.raise('messages.upsert', told('old-1', 'append'))
    socket.receive({ id: 'old-2', from: LID, offline: '1' })
    socket.raise('connection.update', { receivedPendingNotifications: true })
    socket.raise('messages.upsert', told('old-2', 'append'))
    await device.until(() => device.events.length === 3)
    expect(ids(device.events)).toEqual(['old-1', 'old-2', 'live'])
  })

  it('do not wait forever for one that cannot be read', async () => {
    const { device, socket } = await open()
    socket.receive({ id: 'unreadable', from: LID })
    socket.receive({ id: 'next', from: LID })
    socket.raise('messages.upsert', told('next'))
    await device.until(() => device.waits.length > 0)
    expect(device.events).toEqual([])
    device.waits[0]?.end()
    await device.until(() => device.events.length === 1)
    expect(ids(device.events)).toEqual(['next'])
  })

  it('are all reported if the connection ends first', async () => {
    const { device, socket } = await open()
    for (const id of ['lost', 'A', 'B']) socket.receive({ id, from: LID })
    for (const id of ['B', 'A']) socket.raise('messages.upsert', told(id))
    socket.close(428)
    await device.until(() => device.events.length === 2)
    expect(ids(device.events)).toEqual(['A', 'B'])
  })
})

describe('a linked device', () => {
  it('shows codes, opens after a scan, and reconnects at once if the network asks for it', async () => {
    const device = start(null)
    const first = await device.socket(1)
    first.raise('connection.update', { qr: 'code-1' })
    first.raise('connection.update', { qr: 'code-2' })
    await device.until(() => device.codes.length === 2)
    expect(device.codes).toEqual([
      { code: 'code-1', pairingCode: null, count: 1 },
      { code: 'code-2', pairingCode: null, count: 2 },
    ])
    Object.assign(first.config.auth.creds, { me: { id: '5511999990000:7@s.whatsapp.net' }, account: {} })
    first.raise('creds.update', {})
    first.close(515)
    const second = await device.socket(2)
    expect(second.config.auth.creds.me?.id).toBe('5511999990000:7@s.whatsapp.net')
    second.open()
    await device.until(() => device.states.length === 2)
    expect(device.waits).toEqual([])
    expect(device.states).toEqual([
      { state: 'connecting', code: null, text: null },
      { state: 'open', code: null, text: null, owner: '5511999990000', profileName: 'Shop' },
    ])
  })

  it('provides a pairing code', async () => {
    const device = start(null)
    const answer = device.run({ verb: 'connect', number: '5511999990000' }, 1_000)
    const socket = await device.socket(1)
    socket.raise('connection.update', { qr: 'code-1' })
    expect(await answer).toEqual({
      outcome: 'done',
      value: { code: 'code-1', pairingCode: 'ABCD1234', count: 1 },
    })
    expect(socket.called('requestPairingCode')).toEqual([['5511999990000']])
  })

  it('provides no pairing code if the QR code was scanned in the meantime', async () => {
    const device = start(null)
    const answer = device.run({ verb: 'connect', number: '5511999990000' }, 1_000)
    const socket = await device.socket(1)
    socket.raise('connection.update', { qr: 'code-1' })
    await Promise.resolve()
    socket.open()
    expect(await answer).toEqual({ outcome: 'done', value: { code: null, pairingCode: null, count: 0 } })
  })

  it('starts a new session if a pairing code was requested and never typed', async () => {
    const device = start(JSON.stringify({ me: { id: '5511999990000@s.whatsapp.net' } }))
    expect((await device.socket(1)).config.auth.creds).toEqual({})
  })

  it('ends if its codes are not scanned, and starts again on request', async () => {
    const device = start(null)
    const socket = await device.socket(1)
    for (let count = 1; count <= 31; count++) socket.raise('connection.update', { qr: `code-${count}` })
    await device.until(() => device.states.at(-1)?.state === 'close')
    expect(device.codes).toHaveLength(30)
    expect(device.states.at(-1)).toMatchObject({ state: 'close', code: 428 })
    const answer = device.run({ verb: 'connect', number: null }, 1_000)
    ;(await device.socket(2)).raise('connection.update', { qr: 'new' })
    expect(await answer).toMatchObject({ value: { code: 'new', count: 1 } })
  })

  it('waits longer after each failure while the network is away, and reports it once', async () => {
    const device = start(LINKED)
    ;(await device.socket(1)).open()
    for (let count = 1; count <= 8; count++) {
      ;(await device.socket(count)).close(count % 2 === 0 ? 408 : 428)
      await device.until(() => device.waits.length === count)
      device.waits[count - 1]?.end()
    }
    expect(device.waits.map(({ ms }) => ms)).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000])
    expect(device.states.map(({ state, code }) => [state, code])).toEqual([
      ['connecting', null],
      ['open', null],
      ['connecting', 428],
    ])
  })

  it.each([
    [440, 0],
    [401, 1],
    [403, 1],
  ])('does not reconnect after %i', async (code, cleared) => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    socket.close(code)
    await device.until(() => device.states.at(-1)?.state === 'close')
    expect(device.states.at(-1)?.code).toBe(code)
    expect(device.memory.state.cleared).toBe(cleared)
    expect(device.sockets).toHaveLength(1)
    expect(device.waits).toEqual([])
  })

  it('looks for a newer version if its own is refused, and gives up after three refusals', async () => {
    const device = start(LINKED)
    for (let count = 1; count <= 3; count++) {
      const socket = await device.socket(count)
      expect(socket.config.version).toEqual(count === 1 ? undefined : [2, 3000, 99])
      socket.close(405)
      if (count === 3) break
      await device.until(() => device.waits.length === count)
      device.waits[count - 1]?.end()
    }
    await device.until(() => device.states.at(-1)?.state === 'close')
    expect(device.states.at(-1)?.text).toContain('version')
    expect(device.memory.state.cleared).toBe(0)
  })

  it('reconnects if a connection neither opens, shows a code nor ends', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    device.patience[0]?.end()
    await device.until(() => device.waits.length === 1)
    expect(socket.called('end')).toHaveLength(1)
    expect(device.waits.map(({ ms }) => ms)).toEqual([1_000])
    device.waits[0]?.end()
    ;(await device.socket(2)).open()
    device.patience[1]?.end()
    await device.until(() => device.states.length === 2)
    await new Promise(setImmediate)
    expect(device.sockets[1]?.called('end')).toEqual([])
  })

  it('shows a code for as long as the network allows', async () => {
    const device = start(null)
    const socket = await device.socket(1)
    socket.raise('connection.update', { qr: 'code-1' })
    device.patience[0]?.end()
    await new Promise(setImmediate)
    expect(socket.called('end')).toEqual([])
  })

  it('does not count failures of the socket itself as refusals, however frequent', async () => {
    const device = start(LINKED)
    for (let count = 1; count <= 4; count++) {
      const socket = await device.socket(count)
      const error = Object.assign(new Error('WebSocket Error (self-signed certificate)'), {
        output: { statusCode: 500 },
      })
      socket.raise('connection.update', { connection: 'close', lastDisconnect: { error } })
      await device.until(() => device.waits.length === count)
      device.waits[count - 1]?.end()
    }
    await device.socket(5)
    expect(device.states).toHaveLength(1)
  })

  it.each([
    ['restart', 'done'],
    ['logout', 'done'],
  ] as const)('does not wait before a %s that came while a newer version was looked for', async (verb, outcome) => {
    const device = start(LINKED)
    let find = () => {}
    device.library.fetchLatestWaWebVersion = () =>
      new Promise((resolve) => {
        find = () => resolve({ version: [2, 3000, 99], isLatest: true })
      })
    ;(await device.socket(1)).close(405)
    await new Promise(setImmediate)
    const answer = device.run({ verb }, 1_000)
    await new Promise(setImmediate)
    find()
    if (verb === 'restart') (await device.socket(2)).open()
    expect(await answer).toEqual({ outcome, value: null })
    expect(device.waits.filter(({ ms }) => ms > 1_000)).toEqual([])
    expect(device.sockets).toHaveLength(verb === 'restart' ? 2 : 1)
  })

  it('treats messages that waited for it like live ones', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    socket.raise('messages.upsert', { type: 'append', messages: [person({ conversation: 'missed' })] })
    socket.raise('messages.upsert', { type: 'notify', messages: [person({ conversation: 'live' })] })
    socket.raise('messaging-history.set', { messages: [person({ conversation: 'old' })] })
    await device.until(() => device.events.length === 2)
    expect(device.events.map((event) => event.type === 'message' && event.message)).toEqual([
      { conversation: 'missed' },
      { conversation: 'live' },
    ])
  })

  it('asks for the number behind a hidden id', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.phones['77@lid'] = '5511888887777:0@s.whatsapp.net'
    socket.raise('messages.upsert', { messages: [person({ conversation: 'hi' }, {}, { remoteJid: '77@lid' })] })
    await device.until(() => device.events.length === 1)
    expect(device.events[0]?.chat).toEqual({ jid: '77@lid', phone: '5511888887777', lid: '77@lid', name: null })
  })

  it('asks again for the number behind a hidden id if the keys could not be read', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.phones['77@lid'] = '5511888887777:0@s.whatsapp.net'
    socket.directoryErrors = { '77@lid': new KeysNotRead('the database is away'), '78@lid': new Error('no number') }
    socket.raise('messages.upsert', { messages: [person({ conversation: 'hi' }, {}, { remoteJid: '77@lid' })] })
    await device.until(() => device.waits.length === 1)
    expect(device.events).toEqual([])
    socket.raise('messages.upsert', { messages: [person({ conversation: 'hi' }, {}, { remoteJid: '78@lid' })] })
    delete socket.directoryErrors['77@lid']
    device.waits[0]?.end()
    await device.until(() => device.events.length === 2)
    expect(device.events.map(({ chat }) => chat.phone)).toEqual(['5511888887777', null])
  })

  it('records what arrives until it succeeds, and accepts nothing more in the meantime', async () => {
    let tries = 0
    const recorded: DeviceEvent[] = []
    const device = start(LINKED, {
      onMessages: async (events) => {
        tries += 1
        if (tries <= 3) throw new Error('the database is away')
        recorded.push(...events)
      },
    })
    const socket = await device.socket(1)
    socket.open()
    socket.raise('messages.upsert', { messages: [person({ conversation: 'hi' })] })
    for (let count = 1; count <= 4; count++) {
      await device.until(() => device.waits.length === count)
      if (count < 4) device.waits[count - 1]?.end()
    }
    expect(socket.called('end')).toHaveLength(1)
    for (const { end } of device.waits) end()
    await device.socket(2)
    expect(recorded).toHaveLength(1)
  })

  it('disconnects if its keys cannot be written, and returns with the last written ones', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    await device.until(() => device.states.length === 2)
    device.memory.state.failure = new Error('the database is away')
    await expect(socket.config.auth.keys.set({ session: { a: 'new' } })).rejects.toThrow('away')
    await device.until(() => device.waits.length === 1)
    expect(socket.called('end')).toHaveLength(1)
    device.memory.state.failure = null
    device.waits[0]?.end()
    const second = await device.socket(2)
    expect(await second.config.auth.keys.get('session', ['a'])).toEqual({})
  })

  it('reconnects on request', async () => {
    const device = start(LINKED)
    ;(await device.socket(1)).open()
    const answer = device.run({ verb: 'restart' }, 1_000)
    ;(await device.socket(2)).open()
    expect(await answer).toEqual({ outcome: 'done', value: null })
  })

  it('logs out: the network is notified and the keys are deleted', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    expect(await device.run({ verb: 'logout' }, 1_000)).toEqual({ outcome: 'done', value: null })
    expect(socket.called('logout')).toHaveLength(1)
    expect(device.memory.state).toMatchObject({ credentials: null, cleared: 1 })
    expect(device.states.at(-1)).toMatchObject({ state: 'close', code: 401 })
    expect(await device.run({ verb: 'set_presence', presence: 'available' }, 1_000)).toMatchObject({
      outcome: 'not_open',
    })
  })

  it('stops without logging out, once everything received is recorded', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    socket.raise('messages.upsert', { messages: [person({ conversation: 'last' })] })
    await session?.stop()
    expect(device.events).toHaveLength(1)
    expect(socket.called('logout')).toEqual([])
    expect(socket.called('end')).toHaveLength(1)
    expect(device.memory.state.cleared).toBe(0)
    expect(device.states.at(-1)?.state).toBe('open')
    expect(await device.run({ verb: 'restart' }, 1_000)).toMatchObject({ outcome: 'not_open' })
  })

  it('returns the events that could not be recorded when it stops', async () => {
    let isAway = true
    const recorded: DeviceEvent[] = []
    const device = start(LINKED, {
      onMessages: async (events) => {
        if (isAway) throw new Error('the database is away')
        recorded.push(...events)
      },
    })
    const socket = await device.socket(1)
    socket.open()
    socket.raise('messages.upsert', { messages: [person({ conversation: 'hi' })] })
    await device.until(() => device.waits.length === 1)
    await session?.stop()
    expect(device.left.map(({ messageIds }) => messageIds)).toEqual([['3EB0AA']])
    isAway = false
    await device.left[0]?.record()
    expect(recorded).toMatchObject([{ message: { conversation: 'hi' } }])
  })

  it('stops even if it accepts nothing because it is behind', async () => {
    const device = start(LINKED, {
      onMessages: async () => {
        throw new Error('the database is away')
      },
    })
    const socket = await device.socket(1)
    socket.open()
    socket.raise('messages.upsert', { messages: [person({ conversation: 'hi' })] })
    for (const ms of [200, 400, 1_000]) {
      await device.until(() => device.waits.some((wait) => wait.ms === ms))
      device.waits.find((wait) => wait.ms === ms)?.end()
    }
    await new Promise(setImmediate)
    await session?.stop()
    expect(device.left.map(({ messageIds }) => messageIds)).toEqual([['3EB0AA']])
    expect(device.sockets).toHaveLength(1)
  })

  it('ends the running commands when it stops', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    socket.holdCalls()
    const answer = device.run({ verb: 'set_presence', presence: 'available' }, 60_000)
    await session?.stop()
    expect(await answer).toMatchObject({ outcome: 'unknown' })
  })

  it('logs out within a fixed time, even if recording its state never ends', async () => {
    const device = start(LINKED, { onState: () => new Promise(() => undefined) })
    ;(await device.socket(1)).open()
    const answer = device.run({ verb: 'logout' }, 1_000)
    await device.until(() => device.waits.some(({ ms }) => ms === 1_000))
    device.waits.find(({ ms }) => ms === 1_000)?.end()
    expect(await answer).toMatchObject({ outcome: 'unknown' })
    session = null
  })

  it('starts again if a code is requested before its end is recorded', async () => {
    let record = () => {}
    const device = start(LINKED, {
      onState: ({ state }) =>
        state === 'close'
          ? new Promise((resolve) => {
              record = resolve
            })
          : Promise.resolve(),
    })
    const socket = await device.socket(1)
    socket.open()
    socket.close(440)
    await expect.poll(() => session?.isRunning()).toBe(false)
    const answer = device.run({ verb: 'restart' }, 1_000)
    expect(session?.isRunning()).toBe(true)
    record()
    ;(await device.socket(2)).open()
    expect(await answer).toMatchObject({ outcome: 'done' })
  })

  it('shows a new code at once after the phone has unlinked it', async () => {
    const device = start(LINKED)
    const { store } = device.memory
    const { clear } = store
    let remove = () => {}
    const removing = new Promise<void>((resolve) => {
      remove = resolve
    })
    store.clear = () => removing.then(clear)
    const socket = await device.socket(1)
    socket.open()
    socket.close(401)
    await expect.poll(() => session?.isRunning()).toBe(false)
    const answer = device.run({ verb: 'connect', number: null }, 1_000)
    await new Promise(setImmediate)
    expect(device.sockets).toHaveLength(1)
    remove()
    const next = await device.socket(2)
    next.raise('connection.update', { qr: 'code-1' })
    expect(await answer).toEqual({ outcome: 'done', value: { code: 'code-1', pairingCode: null, count: 1 } })
    expect(next.config.auth.creds.account).toBeUndefined()
    expect(device.memory.state).toMatchObject({ credentials: null, cleared: 1 })
  })

  it("follows the owner's settings: declines calls, marks as read, ignores groups", async () => {
    const settings = {
      rejectCalls: true,
      callAnswer: 'Write, please',
      ignoreGroups: true,
      alwaysOnline: true,
      readMessages: true,
    }
    const device = start(LINKED, { settings: () => settings })
    const socket = await device.socket(1)
    socket.open()
    expect(socket.config.markOnlineOnConnect).toBe(true)
    const ignored = ['1@g.us', 'status@broadcast', '1@newsletter', '5511888887777@s.whatsapp.net', '77@lid']
    expect(ignored.map(socket.config.shouldIgnoreJid)).toEqual([true, true, true, false, false])
    socket.raise('call', [{ id: 'c0', from: '5511888887777@s.whatsapp.net', status: 'offer', offline: true }])
    socket.raise('call', [{ id: 'c1', from: '5511888887777@s.whatsapp.net', status: 'offer' }])
    socket.raise('messages.upsert', { messages: [person({ conversation: 'hi' })] })
    await device.until(() => device.events.length === 1)
    await new Promise(setImmediate)
    expect(socket.called('rejectCall')).toEqual([['c1', '5511888887777@s.whatsapp.net']])
    expect(socket.called('sendMessage')[0]?.[1]).toEqual({ text: 'Write, please', linkPreview: null })
    expect(socket.called('readMessages')).toEqual([
      [[{ remoteJid: '5511888887777@s.whatsapp.net', fromMe: false, id: '3EB0AA' }]],
    ])
  })
})

describe('what the network tells besides messages', () => {
  const GROUP = '120363000000000001@g.us'

  async function open(changes: Partial<DeviceSessionOptions> = {}) {
    const device = start(LINKED, changes)
    const socket = await device.socket(1)
    socket.open()
    return { device, socket }
  }

  it('is passed on as the library has it: presence, calls, groups', async () => {
    const { device, socket } = await open()
    const presence = { id: '77@lid', presences: { '77@lid': { lastKnownPresence: 'composing' } } }
    const call = { id: 'c1', chatId: '5511888887777@s.whatsapp.net', from: '77@lid', status: 'offer' }
    const joined = { id: GROUP, participants: [{ id: '77@lid' }], action: 'add' }
    socket.raise('presence.update', presence)
    socket.raise('call', [call])
    socket.raise('groups.update', [{ id: GROUP, subject: 'Tea' }])
    socket.raise('group-participants.update', joined)
    expect(device.signals).toEqual([
      { event: 'presence.update', data: presence, chat: '77@lid' },
      { event: 'call', data: call, chat: '5511888887777@s.whatsapp.net' },
      { event: 'groups.update', data: [{ id: GROUP, subject: 'Tea' }], chat: GROUP },
      { event: 'group-participants.update', data: joined, chat: GROUP },
    ])
  })

  it('of groups is left out if the owner ignores groups, and so is what names no chat or is too long', async () => {
    const { device, socket } = await open({ settings: () => ({ ...SETTINGS, ignoreGroups: true }) })
    socket.raise('groups.update', [{ id: GROUP, subject: 'Tea' }])
    socket.raise('presence.update', { id: 'status@broadcast', presences: {} })
    socket.raise('presence.update', { id: '77@lid', presences: { x: 'x'.repeat(300_000) } })
    for (const data of [null, 'x', 7, [], {}, { id: 5 }]) socket.raise('presence.update', data)
    expect(device.signals).toEqual([])
  })

  it('includes votes, with the options that were chosen', async () => {
    const option = (name: string) => createHash('sha256').update(name).digest()
    const poll = {
      messageContextInfo: { messageSecret: Buffer.from('secret').toString('base64') },
      pollCreationMessageV3: { name: 'Tea?', options: [{ optionName: 'Yes' }, { optionName: 'No' }] },
    }
    const { device, socket } = await open({ findMessage: async (id) => (id === 'POLL' ? poll : null) })
    device.library.decryptPollVote = ({ encPayload }, { pollCreatorJid, voterJid, pollMsgId, pollEncKey }) => {
      const isRight = pollCreatorJid === '5511999990000@s.whatsapp.net' && voterJid === '77@lid' && pollMsgId === 'POLL'
      if (!isRight || Buffer.from(pollEncKey).toString() !== 'secret') throw new Error('Unsupported state')
      return { selectedOptions: [option(String(encPayload))] }
    }
    const vote = (id: string, encPayload: string) => ({
      pollUpdateMessage: { pollCreationMessageKey: { remoteJid: '77@lid', fromMe: true, id }, vote: { encPayload } },
    })
    const key = { remoteJid: '77@lid', remoteJidAlt: '5511888887777@s.whatsapp.net' }
    socket.raise('messages.upsert', {
      messages: [person(vote('POLL', 'No'), {}, key), person(vote('other', 'No'), {}, key)],
    })
    await device.until(() => device.signals.length === 1)
    const pollUpdates = [
      { name: 'Yes', voters: [] },
      { name: 'No', voters: ['77@lid'] },
    ]
    const data = { keyId: 'POLL', remoteJid: '77@lid', fromMe: true, status: 'SERVER_ACK', pollUpdates }
    expect(device.signals).toEqual([{ event: 'messages.update', data, chat: '77@lid' }])
    expect(device.events).toEqual([])
  })
})

describe('an edit', () => {
  const edited = (text: string) => ({ message: { editedMessage: { message: { conversation: text } } } })
  const key = { remoteJid: '5511888887777@s.whatsapp.net', fromMe: false, id: 'FIRST' }

  it('that is encrypted with the secret of its message comes as an update', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    const envelope = { secretEncryptedMessage: { targetMessageKey: { id: 'FIRST' }, secretEncType: 2 } }
    socket.raise('messages.upsert', { messages: [person(envelope, {}, { id: 'EDIT' })] })
    socket.raise('messages.update', [{ key, update: { ...edited('changed'), messageTimestamp: 1_700_000_005 } }])
    await device.until(() => device.events.length > 0)
    expect(device.events).toMatchObject([
      {
        ...{ type: 'message', key: { ...key, id: 'edit:1700000005:FIRST' }, timestamp: 1_700_000_005 },
        message: { protocolMessage: { key: { id: 'FIRST' }, type: 14, editedMessage: { conversation: 'changed' } } },
      },
    ])
  })

  it('that came as a message is not recorded a second time', async () => {
    const device = start(LINKED)
    const socket = await device.socket(1)
    socket.open()
    const protocolMessage = { key: { id: 'FIRST' }, type: 14, editedMessage: { conversation: 'changed' } }
    socket.raise('messages.upsert', { messages: [person({ protocolMessage }, {}, { id: 'EDIT' })] })
    socket.raise('messages.update', [{ key, update: edited('changed') }])
    socket.raise('messages.upsert', { messages: [person({ conversation: 'next' }, {}, { id: 'NEXT' })] })
    await device.until(() => device.events.length > 1)
    expect(device.events.map((event) => event.key.id)).toEqual(['EDIT', 'NEXT'])
  })
})
