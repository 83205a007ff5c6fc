import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Device, DeviceCommand, MessageKey, PairingCode, Sent } from '../../src/channels/device.js'
import { openSandboxes, type Sandboxes, sandboxDriver } from '../../src/channels/sandbox.js'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import { phoneNumberIdOf } from '../../src/upstream/simulator-link.js'
import { PATIENCE_MS } from '../support/patience.js'
import { appSecret, useWorld } from '../support/simulator.js'

const controlToken = 'control-token'
const phone = { organizationId: '0190a1b2-0000-7000-8000-000000000001', name: 'Loja São José / 50% off' }
const who = { organization_id: phone.organizationId, instance: phone.name }
const known = { ...phone, accessToken: 'token', appSecret, state: 'close', number: null, profileName: null } as const
const key: MessageKey = { remoteJid: '5511987654321@s.whatsapp.net', fromMe: true, id: 'ABC' }

const world = useWorld({ controlToken })
let sandboxes: Sandboxes
let device: Device
let upstream: UpstreamClient

beforeAll(async () => {
  upstream = createUpstreamClient(world.simulator.upstreamUrl)
  const control = { controlUrl: `${world.simulator.url}/_sim`, token: controlToken }
  sandboxes = openSandboxes(control, () => world.receiver.url)
  device = sandboxes.device(phone)
})
beforeEach(async () => {
  await sandboxes.forget(phone)
  expect(await sandboxes.register(known)).toEqual({ state: 'close', number: null, profileName: null })
})
afterAll(() => upstream.close())

const scan = (fields: object = {}) => world.control('POST', '/scan', { ...who, ...fields })
const link = async () => {
  await device({ verb: 'connect', number: null }, PATIENCE_MS)
  expect(await scan({ number: '5511912345678', name: 'Zoë' })).toMatchObject({ status: 200, body: { delivered: true } })
}
const commands = async () => {
  const { body } = await world.control('GET', '/phones')
  return (body.phones as Array<{ commands: Array<{ command: object }> }>)[0]?.commands.map(({ command }) => command)
}

describe('a sandbox', () => {
  it('shows a code until it is scanned', async () => {
    expect(await device({ verb: 'connect', number: null }, PATIENCE_MS)).toEqual({
      outcome: 'done',
      value: { code: expect.stringMatching(/^2@/), pairingCode: null, count: 1 },
    })
    const typed = await device({ verb: 'connect', number: '5511987654321' }, PATIENCE_MS)
    expect(typed).toMatchObject({ value: { pairingCode: expect.stringMatching(/^\w{8}$/), count: 2 } })
    const again = await device({ verb: 'restart' }, PATIENCE_MS)
    expect((again as { value: PairingCode }).value.count).toBe(3)
    await scan()
    expect(await device({ verb: 'connect', number: null }, PATIENCE_MS)).toEqual({ outcome: 'done', value: null })
    expect(await device({ verb: 'restart' }, PATIENCE_MS)).toEqual({ outcome: 'done', value: null })
  })

  it('is restored after the simulator restarts, and follows the simulator while it runs', async () => {
    const linked = { state: 'open', number: '5511912345678', profileName: 'Zoë' } as const
    await sandboxes.forget(phone)
    await sandboxes.forget(phone)
    expect(await sandboxes.register({ ...known, ...linked })).toEqual(linked)
    expect(await sandboxes.register(known)).toEqual(linked)
    expect(await device({ verb: 'logout' }, PATIENCE_MS)).toEqual({ outcome: 'done', value: null })
    expect(await sandboxes.register({ ...known, ...linked })).toMatchObject({ state: 'close' })
  })

  it('records the commands that it receives', async () => {
    await link()
    const told: DeviceCommand[] = [
      { verb: 'set_presence', presence: 'available' },
      { verb: 'show_presence', jid: key.remoteJid, presence: 'composing' },
      { verb: 'mark_read', keys: [{ ...key, fromMe: false }] },
      { verb: 'archive', jid: key.remoteJid, archive: true, last: null },
    ]
    for (const command of told) expect(await device(command, PATIENCE_MS)).toEqual({ outcome: 'done', value: null })
    expect(await commands()).toEqual(told)
    expect(await device({ verb: 'profile_picture', jid: key.remoteJid }, PATIENCE_MS)).toEqual({
      outcome: 'done',
      value: { url: null },
    })
  })

  it('revokes and edits messages', async () => {
    await link()
    const deleted = await device({ verb: 'delete_message', key }, PATIENCE_MS)
    expect(deleted).toEqual({
      outcome: 'done',
      value: {
        key: { remoteJid: key.remoteJid, fromMe: true, id: expect.stringMatching(/^[0-9A-F]{32}$/) },
        message: { protocolMessage: { key, type: 'REVOKE' } },
      },
    })
    const edited = await device({ verb: 'edit_message', key, text: 'better' }, PATIENCE_MS)
    expect((edited as { value: Sent }).value.message).toEqual({
      protocolMessage: { key, type: 'MESSAGE_EDIT', editedMessage: { conversation: 'better' } },
    })
  })

  it('knows which numbers have an account', async () => {
    await link()
    const numbers = ['5531987654321', '5511900000001', '16505550042@s.whatsapp.net', '1203630@g.us', 'nobody 7']
    expect(await device({ verb: 'check_numbers', numbers }, PATIENCE_MS)).toEqual({
      outcome: 'done',
      value: [
        { jid: '553187654321@s.whatsapp.net', exists: true, number: numbers[0] },
        { jid: '5511900000001@s.whatsapp.net', exists: false, number: numbers[1] },
        { jid: '16505550042@s.whatsapp.net', exists: true, number: numbers[2] },
        { jid: '1203630@g.us', exists: true, number: numbers[3] },
        { jid: '7@s.whatsapp.net', exists: false, number: numbers[4] },
      ],
    })
  })

  it('sends through its own channel if the message mentions people', async () => {
    await link()
    expect(await device({ verb: 'send', message: message('x'), replyTo: null }, PATIENCE_MS)).toMatchObject({
      outcome: 'unsupported',
    })
    const driver = sandboxDriver(upstream, { phoneNumberId: phoneNumberIdOf(phone), accessToken: 'token' })
    expect(await driver.send(message('plain'), PATIENCE_MS)).toMatchObject({ outcome: 'accepted' })
    expect(await driver.send(message('named', ['1@lid']), PATIENCE_MS)).toMatchObject({ outcome: 'accepted' })
    const { body } = await world.control('GET', '/messages')
    const [plain, named] = (body.messages as Array<{ payload: object }>).map(({ payload }) => payload)
    expect(plain).not.toHaveProperty('mentions')
    expect(named).toMatchObject({ recipient: '1203630@g.us', mentions: ['1@lid'] })
    await world.idle()
  })
})

describe('a command that a sandbox rejects', () => {
  it('while it is not linked', async () => {
    const asked: DeviceCommand[] = [
      { verb: 'set_presence', presence: 'available' },
      { verb: 'check_numbers', numbers: [] },
    ]
    for (const command of asked) {
      expect(await device(command, PATIENCE_MS)).toEqual({
        outcome: 'not_open',
        text: expect.stringContaining('not linked'),
      })
    }
    const driver = sandboxDriver(upstream, { phoneNumberId: phoneNumberIdOf(phone), accessToken: 'token' })
    expect(await driver.send(message('x'), PATIENCE_MS)).toMatchObject({
      outcome: 'refused',
      because: 'message',
      code: 133010,
    })
  })

  it('if the simulator does not know it', async () => {
    const stranger = sandboxes.device({ ...phone, name: 'other' })
    expect(await stranger({ verb: 'connect', number: null }, PATIENCE_MS)).toMatchObject({ outcome: 'not_open' })
  })

  it('if the simulator does not accept it', async () => {
    expect(await device({ verb: 'connect', number: 'none' }, PATIENCE_MS)).toEqual({
      outcome: 'refused',
      code: 400,
      text: expect.stringContaining('number must be a phone number'),
    })
    await expect(sandboxes.register({ ...known, organizationId: '' })).rejects.toThrow('did not take the number')
  })

  it('if there is no simulator', async () => {
    const gone = openSandboxes({ controlUrl: 'http://127.0.0.1:1/_sim', token: null }, () => world.receiver.url)
    expect(await gone.device(phone)({ verb: 'logout' }, PATIENCE_MS)).toMatchObject({ outcome: 'not_open' })
    await expect(gone.register(known)).rejects.toThrow('no connection to the simulator')
    await expect(gone.forget(phone)).rejects.toThrow('no connection to the simulator')
  })
})

function message(text: string, mentions?: string[]) {
  const content = { type: 'text' as const, text, ...(mentions && { mentions }) }
  return { id: 'ours', recipient: { userId: '1203630@g.us' }, content, replyToUpstreamId: null }
}
