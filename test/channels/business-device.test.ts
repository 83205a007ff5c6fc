import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { businessDevice } from '../../src/channels/business-device.js'
import type { Device, DeviceCommand, MessageKey } from '../../src/channels/device.js'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../support/http-server.js'
import { PATIENCE_MS } from '../support/patience.js'

const jid = '16505550042@s.whatsapp.net'
const key = (id: string, fromMe = false): MessageKey => ({ remoteJid: jid, fromMe, id })

let answer: Answering
let server: HttpServer
let client: UpstreamClient
let device: Device

beforeEach(async () => {
  answer = json(200, { success: true })
  server = await startHttpServer((request, response) => answer(request, response))
  client = createUpstreamClient(`${server.url}/v23.0`)
  device = businessDevice(client, { phoneNumberId: '10001', accessToken: 'token' })
})
afterEach(async () => {
  await client.close()
  await server.close()
})

const markRead = () =>
  device({ verb: 'mark_read', keys: [key('wamid.1'), key('wamid.2', true), key('wamid.3')] }, PATIENCE_MS)

describe('marking as read', () => {
  it('reports each received message to the upstream', async () => {
    expect(await markRead()).toEqual({ outcome: 'done', value: null })
    expect(server.taken).toMatchObject([
      { method: 'POST', path: '/v23.0/10001/messages', headers: { authorization: 'Bearer token' } },
      { method: 'POST', path: '/v23.0/10001/messages' },
    ])
    expect(server.taken.map(({ body }) => JSON.parse(String(body)))).toEqual([
      { messaging_product: 'whatsapp', status: 'read', message_id: 'wamid.1' },
      { messaging_product: 'whatsapp', status: 'read', message_id: 'wamid.3' },
    ])
  })

  it.each<[string, Answering, object]>([
    [
      'an unknown message',
      json(400, { error: { code: 131009, message: 'title', error_data: { details: 'no such message' } } }),
      { outcome: 'refused', because: 'request', code: 131009, text: 'no such message' },
    ],
    ['an answer of a proxy', bare(502), { outcome: 'failed', code: 502, text: expect.stringContaining('HTTP 502') }],
    ['no answer', hangUp, { outcome: 'failed', code: null, text: expect.stringContaining('no answer') }],
  ])('reports %s', async (_what, answering, expected) => {
    answer = answering
    expect(await markRead()).toMatchObject(expected)
    expect(server.taken).toHaveLength(1)
  })

  it('fails if the upstream cannot be reached', async () => {
    await server.close()
    expect(await markRead()).toMatchObject({ outcome: 'failed', text: expect.stringContaining('no answer') })
  })
})

describe('the other commands', () => {
  it('treat connecting as done', async () => {
    expect(await device({ verb: 'connect', number: null }, PATIENCE_MS)).toEqual({ outcome: 'done', value: null })
    expect(await device({ verb: 'restart' }, PATIENCE_MS)).toEqual({ outcome: 'done', value: null })
  })

  it.each<DeviceCommand>([
    { verb: 'logout' },
    { verb: 'set_presence', presence: 'available' },
    { verb: 'show_presence', jid, presence: 'composing' },
    { verb: 'check_numbers', numbers: ['16505550042'] },
    { verb: 'profile_picture', jid },
    { verb: 'delete_message', key: key('wamid.1', true) },
    { verb: 'edit_message', key: key('wamid.1', true), text: 'better' },
    { verb: 'archive', jid, archive: true, last: null },
  ])('reject $verb as unsupported', async (command) => {
    expect(await device(command, PATIENCE_MS)).toEqual({
      outcome: 'unsupported',
      text: expect.stringMatching(/^The business API cannot do this: .{20,}/),
    })
    expect(server.taken).toEqual([])
  })
})
