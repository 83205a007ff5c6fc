import { beforeAll, describe, expect, it } from 'vitest'
import { readConversations } from '../../support/conversations.js'
import { hasFfmpeg } from '../../support/ffmpeg.js'
import { startMessageWorld } from '../../support/gateway-messages.js'
import { scan } from '../../support/instances.js'
import { jpeg, pdf } from '../../support/media.js'
import { useStarted } from '../../support/started.js'
import { automationNode } from './clients/automation-node.js'
import { type Account, ask, type Client, type Draft, type MessageKey, Shown } from './clients/client.js'
import { phpClient } from './clients/php-client.js'
import { pythonSdk } from './clients/python-sdk.js'
import { typescriptSdk } from './clients/typescript-sdk.js'

const on = useStarted(() => startMessageWorld({ PARLEY_GATEWAY_HOST: 'localhost', PARLEY_GATEWAY_PORT: '0' }))

const HOOK = 'http://127.0.0.1:9/hook'
const QR_CODE = /^data:image\/png;base64,iVBOR/
const NOBODY = '16505000001'

const CLIENTS: [name: string, make: (account: Account) => Client][] = [
  ['automation-node', automationNode],
  ['typescript-sdk', typescriptSdk],
  ['python-sdk', pythonSdk],
  ['php-client', phpClient],
]

/** Runs a refused request; resolves to what the client shows of the refusal. */
async function refusalOf(work: Promise<unknown>): Promise<{ status: number; message: string }> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Shown)) throw error ?? new Error('Nothing was refused')
  return { status: error.status, message: error.message }
}

describe.each(CLIENTS)('%s', (name, make) => {
  let client: Client
  let token: string
  let number: string

  // This one drops the path, and so needs the gateway's own address.
  const origin = () => (make === typescriptSdk ? on.world.app.gatewayUrl : on.world.app.url)
  const account = (key: string): Account => ({ url: `${origin()}/gateway`, key })

  /** Sends a message to the person; resolves to its key and to what arrived at the simulator. */
  async function send(draft: Draft) {
    const key = await client.send(name, number, draft)
    expect(key).toEqual({ id: expect.stringMatching(/./), remoteJid: `${number}@s.whatsapp.net`, fromMe: true })
    const arrived = (await on.arrived(number)).at(-1)
    expect(arrived.id).toBe(key.id)
    return { key, arrived }
  }

  /** The person sends a text. */
  async function receive(text: string): Promise<MessageKey> {
    const inbound = { organization_id: on.organization.id, instance: name, from: number, name: 'Ana' }
    await on.world.sim('POST', '/inbound', { ...inbound, type: 'text', text: { body: text } })
    await on.world.settle()
    const { body } = await readConversations(on.world, on.organization, { chatNumber: number, limit: '1' })
    return { id: body.messages[0].message_id, remoteJid: `${number}@s.whatsapp.net`, fromMe: false }
  }

  beforeAll(async () => {
    number = on.newNumber()
    client = make(account(on.organization.key))
    const made = await client.create(name, HOOK)
    expect(made.qrCode).toMatch(QR_CODE)
    token = made.token
    expect(await client.connect(name)).toMatch(QR_CODE)
  })

  it('connects an instance', async () => {
    expect(await refusalOf(client.send(name, number, { kind: 'text', text: 'too early' }))).toEqual({
      status: 500,
      message: expect.stringContaining('Connection Closed'),
    })
    expect(await client.instances()).toMatchObject({ [name]: 'connecting' })
    const owner = `551198888${String(CLIENTS.findIndex(([one]) => one === name)).padStart(4, '7')}`
    expect((await scan(on.world, on.organization, name, owner)).status).toBe(200)
    await on.world.settle()
    expect(await client.state(name)).toBe('open')
    expect(await client.connect(name)).toBe('open')
    expect(await client.instances()).toMatchObject({ [name]: 'open' })
  })

  it('works with the token of the instance too', async () => {
    const own = make(account(token))
    expect(await own.state(name)).toBe('open')
    expect(await own.instances()).toEqual({ [name]: 'open' })
    expect((await own.send(name, number, { kind: 'text', text: 'by token' })).id).toMatch(/./)
  })

  it('sets its webhook', async () => {
    expect(await client.webhook(name)).toEqual({ url: HOOK, enabled: true, base64: true })
    const events = ['MESSAGES_UPSERT', 'GROUP_UPDATE']
    expect(await client.setWebhook(name, `${HOOK}/new`, events)).toMatchObject({ url: `${HOOK}/new`, events })
    expect(await client.webhook(name)).toEqual({ url: `${HOOK}/new`, enabled: true, base64: true })
  })

  it('sends texts, replies to a message, and sends to groups', async () => {
    const first = await send({ kind: 'text', text: 'first' })
    expect(first.arrived.text.body).toBe('first')
    const second = await send({ kind: 'text', text: 'second', answers: first.key })
    expect(second.arrived.context).toEqual({ message_id: first.key.id })
    const group = '120363041234567890@g.us'
    const draft: Draft = { kind: 'text', text: '@16505559999 look', mentions: ['16505559999'] }
    expect((await client.send(name, group, draft)).remoteJid).toBe(group)
  })

  it('sends files', async () => {
    const image = await send({ kind: 'image', url: on.fileUrl('jpeg'), caption: 'look' })
    expect(image.arrived.image).toEqual({ id: expect.any(String), caption: 'look' })
    expect(await client.file(name, image.key)).toEqual(jpeg())
    const document = await send({ kind: 'document', bytes: pdf(), filename: 'offer.pdf' })
    expect(document.arrived.document).toEqual({ id: expect.any(String), filename: 'offer.pdf' })
    expect(await client.file(name, document.key)).toEqual(pdf())
  })

  it.skipIf(!hasFfmpeg)('sends files that need conversion', async () => {
    expect((await send({ kind: 'voice', url: on.fileUrl('ogg') })).arrived.audio.voice).toBe(true)
    expect((await send({ kind: 'sticker', url: on.fileUrl('png') })).arrived.type).toBe('sticker')
  })

  it('sends every other type of message', async () => {
    const { key } = await send({ kind: 'place', latitude: -23.5, longitude: -46.6, name: 'Shop' })
    expect((await on.arrived(number)).at(-1).location).toMatchObject({ latitude: -23.5, name: 'Shop' })
    const card = await send({ kind: 'card', name: 'Ana Lima', number: '5511988887777' })
    expect(card.arrived.contacts[0]).toMatchObject({ phones: [{ wa_id: '5511988887777' }] })
    const reaction = await send({ kind: 'reaction', to: key, emoji: '👍' })
    expect(reaction.arrived.reaction).toEqual({ message_id: key.id, emoji: '👍' })
    const poll = await send({ kind: 'poll', question: 'Lunch?', options: ['Yes', 'No'] })
    expect(poll.arrived.poll).toMatchObject({ name: 'Lunch?', options: ['Yes', 'No'] })
    const choices = [{ id: 'rice', title: 'Rice' }]
    const list = await send({ kind: 'list', title: 'Menu', text: 'Choose', button: 'Open', rows: choices })
    expect(list.arrived.interactive).toMatchObject({ type: 'list', body: { text: 'Choose' } })
    const buttons = await send({ kind: 'buttons', title: 'Menu', text: 'Choose', buttons: choices })
    expect(buttons.arrived.interactive).toMatchObject({ type: 'button', body: { text: 'Choose' } })
  })

  it('reads chats and marks them as read', async () => {
    await send({ kind: 'text', text: 'hello' })
    const key = await receive('hi')
    expect((await client.texts(name, number)).slice(0, 2)).toEqual(['hi', 'hello'])
    expect(await client.chats(name)).toContain(`${number}@s.whatsapp.net`)
    expect(await client.names(name, number)).toEqual(['Ana'])
    expect(await client.markRead(name, key)).toBe('success')
    expect(await client.showTyping(name, number)).toBe('composing')
    expect(await client.reachable(name, [number, NOBODY])).toEqual([number])
  })

  it('edits and deletes messages that it sent', async () => {
    const { key } = await send({ kind: 'text', text: 'god day' })
    expect(await client.edit(name, key, 'good day')).toBe(key.id)
    expect((await client.texts(name, number))[0]).toBe('good day')
    expect(await client.takeBack(name, key)).toBe(key.id)
  })

  it.each<[string, number, string | RegExp, () => Promise<unknown>]>([
    ['a wrong key', 401, 'Unauthorized', () => make(account('wrong')).state(name)],
    ['an unknown instance', 404, /The \\*"nothing\\*" instance does not exist/, () => client.state('nothing')],
    ['a number that is not on WhatsApp', 400, NOBODY, () => client.send(name, NOBODY, { kind: 'text', text: 'x' })],
    ['no text', 400, 'text is required', () => client.send(name, number, { kind: 'text', text: '' })],
    [
      'a missing file',
      400,
      'the server answered 404',
      () => client.send(name, number, { kind: 'image', url: `${on.files.url}/gone`, caption: '' }),
    ],
    ['a name in use', 403, 'already in use', () => client.create(name, '')],
    ['an unsupported endpoint', 501, 'Manage groups on a phone', () => client.groups(name)],
    [
      'what a simulated phone does not support',
      501,
      'A simulated phone of the sandbox has no round video notes',
      () => client.send(name, number, { kind: 'video note', url: on.fileUrl('mp4') }),
    ],
  ])('shows why: %s', async (_why, status, said, work) => {
    expect(await refusalOf(work())).toEqual({ status, message: expect.stringMatching(said) })
  })

  it('restarts, logs out and deletes the instance', async () => {
    expect(await client.restart(name)).toBe('open')
    expect(await client.logout(name)).toBe('Instance logged out')
    expect(await client.state(name)).toBe('close')
    expect(await refusalOf(client.logout(name))).toMatchObject({
      status: 400,
      message: expect.stringContaining('is not connected'),
    })
    expect(await client.remove(name)).toBe('Instance deleted')
    expect((await refusalOf(client.state(name))).status).toBe(404)
    expect(await client.instances()).not.toHaveProperty(name)
  })
})

describe('a client that drops the path of its base address', () => {
  const reach = (origin: string, method: string, path: string, body?: object) => {
    const headers = { apikey: on.organization.key, 'content-type': 'application/json' }
    return ask(new URL(path, `${origin}/gateway/`).href, method, headers, body)
  }

  it('reaches the gateway at its own host name', async () => {
    const origin = on.world.app.url.replace('127.0.0.1', 'localhost')
    const { body } = await reach(origin, 'GET', '/instance/connectionState/phone')
    expect(body).toEqual({ instance: { instanceName: 'phone', state: 'open' } })
    const number = on.newNumber()
    const sent = await reach(origin, 'POST', '/message/sendText/phone', { number, text: 'by name' })
    expect([sent.status, sent.body.message]).toEqual([201, { conversation: 'by name' }])
    expect((await on.arrived(number)).at(-1)).toMatchObject({ id: sent.body.key.id, text: { body: 'by name' } })
  })

  it('gets a 404 at any other address', async () => {
    expect((await reach(on.world.app.url, 'GET', '/instance/connectionState/phone')).status).toBe(404)
  })
})
