import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { DeviceCommand, KnownMessage } from '../../../src/channels/device.js'
import { type OpenCommand, runCommand } from '../../../src/channels/linked-device/commands.js'
import { createCondition } from '../../../src/channels/linked-device/connection/condition.js'
import { KeysNotWritten } from '../../../src/channels/linked-device/keys/key-store.js'
import type { OpenedFile } from '../../../src/channels/linked-device/wire/to-network.js'
import type { ReadyContent } from '../../../src/model/messages/content.js'
import { createScriptedLibrary, ScriptedSocket } from './scripted-library.js'

const ID = '019a1b2c-3d4e-7f00-8a1b-2c3d4e5f6071'
const NETWORK_ID = '019A1B2C3D4E7F008A1B2C3D4E5F6071'
const JID = '5511888887777@s.whatsapp.net'
const ABOUT: KnownMessage = { key: { remoteJid: JID, fromMe: false, id: '3EB0' }, message: { conversation: 'hi' } }

/** `late`: every awaited answer arrives too late. */
const openPath = async (): Promise<OpenedFile> => ({
  source: { path: '/file' },
  mimeType: 'image/png',
  filename: 'f.png',
})

function device({ late = false, openFile = openPath } = {}) {
  const { library } = createScriptedLibrary()
  const socket = new ScriptedSocket({} as never)
  const connection = {
    socket: socket.asSocket(),
    directory: { findPhone: async (lid: string) => socket.phones[lid] ?? null, findSubject: async () => null },
  }
  const condition = createCondition(() => (late ? Promise.resolve() : new Promise(() => undefined)))
  const context = {
    library,
    connection,
    openFile,
    confirmed: new Map<string, string>(),
    condition,
    isOver: () => false,
  }
  return { socket, context, run: (command: DeviceCommand) => runCommand(context, command as OpenCommand, 1_000) }
}

function send(
  content: ReadyContent,
  recipient: { phone: string } | { userId: string } = { phone: '5511888887777' },
  replyTo: KnownMessage | null = null,
): DeviceCommand {
  return {
    verb: 'send',
    message: { id: ID, recipient, content, replyToUpstreamId: replyTo?.key.id ?? null },
    replyTo,
  }
}

const error = (statusCode: number) => Object.assign(new Error('Connection Closed'), { output: { statusCode } })

describe('a send', () => {
  it('uses our id, and is done once the network has accepted it', async () => {
    const { run, socket } = device()
    expect(await run(send({ type: 'text', text: 'hello' }))).toEqual({
      outcome: 'done',
      value: {
        key: { remoteJid: JID, fromMe: true, id: NETWORK_ID },
        message: { sent: { text: 'hello' } },
      },
    })
    expect(socket.called('waitForMessage')).toEqual([[NETWORK_ID, 1_000]])
  })

  it('quotes the message that it replies to', async () => {
    const { run, socket } = device()
    await run(send({ type: 'text', text: 'hello' }, { userId: '1@g.us' }, ABOUT))
    expect(socket.called('sendMessage')[0]).toEqual([
      '1@g.us',
      { text: 'hello', linkPreview: null },
      { messageId: NETWORK_ID, quoted: { key: ABOUT.key, message: { decoded: { conversation: 'hi' } } } },
    ])
  })

  it('is refused if the network does not know the number', async () => {
    const { run, socket } = device()
    socket.people = [{ id: JID, contact: false }]
    expect(await run(send({ type: 'text', text: 'hello' }))).toMatchObject({ outcome: 'refused' })
    expect(socket.called('sendMessage')).toEqual([])
  })

  it('uses the address that the network has for the number, and asks for it once', async () => {
    const { run, socket } = device()
    socket.people = [{ id: '551188887777@s.whatsapp.net', contact: true }]
    await run(send({ type: 'text', text: 'one' }))
    await run(send({ type: 'text', text: 'two' }))
    expect(socket.called('sendMessage').map(([jid]) => jid)).toEqual(Array(2).fill('551188887777@s.whatsapp.net'))
    expect(socket.called('executeUSyncQuery')).toHaveLength(1)
  })

  it('has an unknown outcome if the network does not answer or the connection breaks', async () => {
    const { run, socket } = device()
    socket.word = undefined
    expect(await run(send({ type: 'text', text: 'hello' }))).toMatchObject({ outcome: 'unknown' })
    socket.sendError = error(408)
    expect(await run(send({ type: 'text', text: 'hello' }))).toMatchObject({ outcome: 'unknown' })
    expect(await device({ late: true }).run(send({ type: 'text', text: 'hello' }))).toMatchObject({
      outcome: 'unknown',
    })
  })

  it('has an unknown outcome if its keys could not be written, because it was already sent', async () => {
    const { run, socket } = device()
    socket.sendError = new KeysNotWritten(new Error('the database is away'))
    expect(await run(send({ type: 'text', text: 'hello' }))).toMatchObject({ outcome: 'unknown' })
  })

  it('is definitely not made if the connection was closed before', async () => {
    const { run, socket } = device()
    socket.sendError = error(428)
    expect(await run(send({ type: 'text', text: 'hello' }))).toEqual({ outcome: 'not_open', text: 'Connection Closed' })
  })

  it('is refused with the code of the network', async () => {
    const { run, socket } = device()
    socket.word = { tag: 'ack', attrs: { error: '463' } }
    expect(await run(send({ type: 'text', text: 'hello' }))).toMatchObject({ outcome: 'refused', code: 463 })
  })

  it('names the content that never arrives', async () => {
    const { run, socket } = device()
    const interactive = { body: 'x', footer: null, type: 'button' as const, buttons: [] }
    expect(await run(send({ type: 'interactive', interactive, header: null }))).toMatchObject({
      outcome: 'unsupported',
      text: expect.stringContaining('Interactive messages'),
    })
    expect(socket.called('sendMessage')).toEqual([])
  })

  it('opens its file once the recipient is known, and always closes it', async () => {
    const streams: Readable[] = []
    const openFile = async () => {
      const stream = Readable.from(['x'])
      streams.push(stream)
      return { source: { stream }, mimeType: 'image/png', filename: null }
    }
    const { run, socket } = device({ openFile })
    const image = send({ type: 'image', file: { channelMediaId: 'm1' }, caption: null })
    socket.people = [{ id: JID, contact: false }]
    expect(await run(image)).toMatchObject({ outcome: 'refused' })
    expect(streams).toHaveLength(0)
    socket.people = []
    socket.sendError = error(428)
    expect(await run(image)).toMatchObject({ outcome: 'not_open' })
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true])
    // It is no longer read, so its failure must not end the process.
    streams[0]?.emit('error', new Error('the store is away'))
  })
})

describe('other commands', () => {
  it('report about a number only what the network has reported', async () => {
    const { run, socket } = device()
    socket.people = [{ id: JID, contact: true, lid: '77@lid' }, { id: '5511777776666@s.whatsapp.net' }]
    socket.subject = 'Family'
    socket.phones['77@lid'] = JID
    const numbers = ['+55 11 88888-7777', '5511777776666', '1@g.us', '77@lid']
    expect(await run({ verb: 'check_numbers', numbers })).toEqual({
      outcome: 'done',
      value: [
        { jid: JID, exists: true, number: '+55 11 88888-7777', lid: '77@lid' },
        { jid: '5511777776666@s.whatsapp.net', exists: false, number: '5511777776666' },
        { jid: '1@g.us', exists: true, number: '1@g.us', name: 'Family' },
        { jid: '77@lid', exists: true, number: '77@lid', lid: '77@lid' },
      ],
    })
  })

  it('edit and revoke by the key of the message', async () => {
    const { run, socket } = device()
    const key = { remoteJid: JID, fromMe: true, id: NETWORK_ID }
    expect(await run({ verb: 'edit_message', key, text: 'better' })).toMatchObject({ outcome: 'done' })
    expect(await run({ verb: 'delete_message', key })).toMatchObject({ outcome: 'done' })
    expect(socket.called('sendMessage').map(([jid, content]) => [jid, content])).toEqual([
      [JID, { text: 'better', linkPreview: null, edit: key }],
      [JID, { delete: key }],
    ])
  })

  it('set presence, mark as read, archive, and fetch pictures', async () => {
    const { run, socket } = device()
    const key = { remoteJid: JID, fromMe: false, id: '3EB0' }
    const last = { key, messageTimestamp: 1 }
    expect(await run({ verb: 'set_presence', presence: 'available' })).toEqual({ outcome: 'done', value: null })
    await run({ verb: 'show_presence', jid: '5511888887777', presence: 'composing' })
    await run({ verb: 'mark_read', keys: [key] })
    await run({ verb: 'archive', jid: JID, archive: true, last })
    expect(await run({ verb: 'profile_picture', jid: JID })).toEqual({
      outcome: 'done',
      value: { url: 'https://pps.example/1.jpg' },
    })
    expect(socket.called('sendPresenceUpdate')).toEqual([['available'], ['composing', JID]])
    expect(socket.called('readMessages')).toEqual([[[key]]])
    expect(socket.called('chatModify')).toEqual([[{ archive: true, lastMessages: [last] }, JID]])
  })
})
