import { beforeAll, expect, it } from 'vitest'
import { createInstance, scan } from '../../../support/instances.js'
import { useStarted } from '../../../support/started.js'
import { startChatWorld, text } from './support.js'

const on = useStarted(startChatWorld)
let number: string

beforeAll(async () => {
  const { world, organization } = on
  number = on.newNumber()
  await createInstance(world, organization, { instanceName: 'listed', integration: 'SANDBOX', qrcode: true })
  expect((await scan(world, organization, 'listed', '5511966665555')).status).toBe(200)
  await world.settle()
  await on.receive('listed', number, { name: 'Ana', ...text('hello') })
})

/** Each field with its type; null for fields that have a value only at other times. */
function typesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typesOf)
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, typesOf(field)]))
}

const get = async (path: string) =>
  (await on.world.request('GET', `/gateway${path}`, { key: on.organization.key })).body

const SETTINGS = {
  rejectCall: 'boolean',
  msgCall: 'string',
  groupsIgnore: 'boolean',
  alwaysOnline: 'boolean',
  readMessages: 'boolean',
  readStatus: 'boolean',
  syncFullHistory: 'boolean',
  wavoipToken: 'string',
}
const KEY = { id: 'string', remoteJid: 'string', fromMe: 'boolean' }
const MESSAGE = {
  id: 'string',
  key: KEY,
  pushName: 'string',
  messageType: 'string',
  content: null,
  message: { conversation: 'string' },
  messageTimestamp: 'number',
  instanceId: 'string',
  source: 'string',
  contextInfo: null,
  MessageUpdate: [{ status: 'string' }],
}

it('lists a simulated phone with the same fields as every other instance', async () => {
  const [row] = await get('/instance/fetchInstances?instanceName=listed')
  expect(typesOf(row)).toEqual({
    id: 'string',
    name: 'string',
    connectionStatus: 'string',
    ownerJid: 'string',
    profileName: null,
    profilePicUrl: null,
    integration: 'string',
    number: null,
    businessId: null,
    token: 'string',
    clientName: 'string',
    disconnectionReasonCode: null,
    disconnectionObject: null,
    disconnectionAt: null,
    createdAt: 'string',
    updatedAt: 'string',
    Chatwoot: null,
    Proxy: null,
    Rabbitmq: null,
    Nats: null,
    Sqs: null,
    Websocket: null,
    Setting: { id: 'string', ...SETTINGS, createdAt: 'string', updatedAt: 'string', instanceId: 'string' },
    _count: { Message: 'number', Contact: 'number', Chat: 'number' },
  })
  expect([row.Setting.id, row.Setting.instanceId]).toEqual([row.id, row.id])
})

it('shows the settings and state of an instance', async () => {
  expect(typesOf(await get('/settings/find/listed'))).toEqual(SETTINGS)
  expect(await get('/instance/connectionState/listed')).toEqual({ instance: { instanceName: 'listed', state: 'open' } })
})

it('finds contacts, messages and chats with every field', async () => {
  const remoteJid = `${number}@s.whatsapp.net`
  const find = async (verb: string, where: object) => typesOf((await on.chat(verb, 'listed', { where })).body)
  expect(await find('findContacts', { remoteJid })).toEqual([
    {
      id: 'string',
      remoteJid: 'string',
      pushName: 'string',
      profilePicUrl: null,
      createdAt: 'string',
      updatedAt: 'string',
      instanceId: 'string',
      isGroup: 'boolean',
      isSaved: 'boolean',
      type: 'string',
    },
  ])
  expect(await find('findMessages', { key: { remoteJid } })).toEqual({
    messages: { total: 'number', pages: 'number', currentPage: 'number', records: [MESSAGE] },
  })
  expect(await find('findChats', { remoteJid })).toEqual([
    {
      id: 'string',
      remoteJid: 'string',
      pushName: 'string',
      profilePicUrl: null,
      updatedAt: 'string',
      windowStart: 'string',
      windowExpires: 'string',
      windowActive: 'boolean',
      lastMessage: { ...MESSAGE, participant: null, sessionId: null, status: 'string' },
      unreadCount: 'number',
      isSaved: 'boolean',
      archived: 'boolean',
    },
  ])
})
