import { describe, expect, it } from 'vitest'
import { startMessageWorld } from '../../support/gateway-messages.js'
import { useStarted } from '../../support/started.js'

const on = useStarted(startMessageWorld)

const ask = (method: string, path: string, body?: unknown) =>
  on.world.request(method, `/gateway${path}`, { key: on.organization.key, ...(body !== undefined && { body }) })

describe('an optional field that is empty or null counts as not given', () => {
  it.each<[string, string, object]>([
    ['sendText', 'shop', { text: 'x', delay: '', quoted: '', linkPreview: null, mentioned: '', mentionsEveryOne: '' }],
    ['sendLocation', 'shop', { latitude: 1, longitude: 2, name: '', address: null }],
    [
      'sendContact',
      'shop',
      { contact: [{ fullName: 'Bo', phoneNumber: '5511988880001', wuid: '', organization: null, email: '', url: '' }] },
    ],
    [
      'sendList',
      'shop',
      {
        title: null,
        description: 'Which?',
        buttonText: 'Open',
        footerText: '',
        sections: [{ title: '', rows: [{ title: 'A', description: null, rowId: 'a' }] }],
      },
    ],
    [
      'sendButtons',
      'shop',
      {
        title: 'Well?',
        footer: null,
        thumbnailUrl: '',
        mediaMessage: [],
        buttons: [{ type: '', displayText: 'Yes', buttonText: null, id: 'a' }],
      },
    ],
  ])('in %s by %s', async (verb, instance, fields) => {
    const { status, body } = await on.send(verb, instance, { number: on.newNumber(), ...fields })
    expect(status, JSON.stringify(body)).toBe(201)
  })

  it.each<[string, unknown]>([
    ['/chat/findContacts/phone', []],
    ['/chat/findContacts/phone', { where: { id: '', remoteJid: null, pushName: [] }, page: '', offset: null }],
    ['/chat/findContacts/phone', { where: { pushName: { contains: '' } } }],
    ['/chat/findMessages/phone', { where: { key: [], messageType: '', source: null, messageTimestamp: [] }, page: '' }],
    ['/chat/findMessages/phone', { where: { key: { id: '', fromMe: '' }, messageTimestamp: { gte: '', lte: null } } }],
    ['/chat/findStatusMessage/phone', { where: { id: '', fromMe: '', status: '', remoteJid: '' }, offset: '' }],
    ['/chat/findChats/phone', { where: '', take: '', skip: '' }],
  ])('in %s %j', async (path, body) => {
    const { status, body: answer } = await ask('POST', path, body)
    expect(status, JSON.stringify(answer)).toBe(200)
  })

  it('in /chat/sendPresence, /webhook/set and the query of /instance/fetchInstances', async () => {
    const presence = { number: on.newNumber(), presence: 'composing', delay: '', options: [] }
    expect((await ask('POST', '/chat/sendPresence/phone', presence)).status).toBe(201)
    const webhook = { enabled: false, url: null, headers: [], events: '', byEvents: '', base64: null }
    expect((await ask('POST', '/webhook/set/phone', { webhook })).status).toBe(201)
    const { body } = await ask('GET', '/instance/fetchInstances?instanceName=&instanceId=&number=')
    expect(body).toHaveLength(2)
  })
})

it('an empty text of a setting ends the one that was set, and an empty flag changes nothing', async () => {
  await ask('POST', '/settings/set/phone', { msgCall: 'Write to us', rejectCall: true })
  await ask('POST', '/settings/set/phone', { msgCall: '', rejectCall: '' })
  expect((await ask('GET', '/settings/find/phone')).body).toMatchObject({ msgCall: '', rejectCall: true })
})

it('a time at which to send is refused, and nothing is sent', async () => {
  const number = on.newNumber()
  for (const name of ['scheduled_at', 'scheduledAt']) {
    const { status, body } = await on.send('sendText', 'phone', { number, text: 'x', [name]: '2099-01-01T09:00:00Z' })
    expect([status, body.status]).toEqual([400, 400])
    expect(String(body.response.message)).toContain(name)
  }
  expect(await on.arrived(number)).toEqual([])
  expect((await on.send('sendText', 'phone', { number, text: 'x', scheduled_at: null })).status).toBe(201)
})
