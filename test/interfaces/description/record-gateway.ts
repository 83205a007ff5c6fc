import { expect } from 'vitest'
import { nameOfKind } from '../../../src/http/description/describe.js'
import type { Examples } from '../../../src/http/description/examples.js'
import { receiveMessages, textMessage, wamid } from '../../support/callbacks.js'
import { scan } from '../../support/instances.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import type { ScriptedNetwork } from '../../support/scripted-device/network.js'
import { startFileServer } from '../../support/send-chat.js'
import type { TestOrganization, World } from '../../support/world.js'
import { createRecorder, type Recorder } from './recorder.js'

const ANA = '5511955554444'
const ANA_JID = `${ANA}@s.whatsapp.net`
const OWNER = '5511988887777'
/** The organization's own number, and a phone that is linked. */
const SHOP = { instance: 'shop' }
const PHONE = { instance: 'phone' }
/** A phone that is linked with the network itself, for what only that has. */
const LINKED = { instance: 'linked' }
const LINKED_NUMBER = '5511977776666'
/** A phone that is never linked. */
const CLOSED = { instance: 'closed' }
const UNKNOWN = { instance: 'unknown' }

const SHOP_EVENTS = [
  'CONTACTS_UPSERT',
  'CONTACTS_UPDATE',
  'MESSAGES_UPSERT',
  'MESSAGES_UPDATE',
  'MESSAGES_EDITED',
  'MESSAGES_DELETE',
  'SEND_MESSAGE',
  'CALL',
  'GROUPS_UPSERT',
  'GROUPS_UPDATE',
  'GROUP_PARTICIPANTS_UPDATE',
]

interface Scene extends Recorder {
  world: World
  network: ScriptedNetwork
  organization: TestOrganization
  endpoint: Receiver
  /** Where files of each kind are. */
  files: string
}

/** Records examples of the gateway and of its webhooks. */
export async function recordGateway(
  world: World,
  network: ScriptedNetwork,
  organization: TestOrganization,
): Promise<Examples> {
  const recorder = await createRecorder(world, '/gateway/openapi.json', organization.key)
  const endpoint = await startReceiver()
  const files = await startFileServer()
  const scene = { ...recorder, world, network, organization, endpoint, files: files.url }
  try {
    await recordInstances(scene)
    await recordSends(scene)
    await recordFiles(scene)
    await recordRoundVideo(scene)
    await recordSignals(scene)
    await recordReading(scene)
    await recordMarks(scene)
    await recordChanges(scene)
    await recordPeople(scene)
    await recordEnd(scene)
    keepEvents(scene)
  } finally {
    await endpoint.close()
    await files.close()
  }
  return recorder.result({
    [endpoint.url]: 'https://shop.example/hooks/chat',
    [files.url]: 'https://shop.example/files',
    [organization.phoneNumberId]: '106540352242922',
    [organization.businessAccountId]: '102290129340398',
  })
}

async function recordInstances({ record, refuse, world, organization, endpoint }: Scene): Promise<void> {
  const shop = { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' }
  await record('instance.create', { body: shop })
  await refuse('instance.create', { body: shop })
  await record('webhook.set', { path: SHOP, body: { webhook: { url: endpoint.url, events: SHOP_EVENTS } } })
  await refuse('webhook.set', { path: SHOP, body: { webhook: { enabled: true } } })
  await record('webhook.find', { path: SHOP })
  const webhook = { url: endpoint.url, byEvents: false, events: [] }
  const create = (instanceName: string, more = {}) =>
    world.request('POST', '/gateway/instance/create', {
      key: organization.key,
      body: { instanceName, integration: 'SANDBOX', ...more },
    })
  await create('phone', { webhook })
  await create('closed')
  await record('instance.connect', { path: PHONE })
  await record('instance.connectionState', { path: PHONE })
  await scan(world, organization, 'phone', OWNER)
  await world.settle()
  await record('instance.fetchInstances', { query: { instanceName: 'phone' } })
  await record('instance.setPresence', { path: PHONE, body: { presence: 'available' } })
  await refuse('instance.setPresence', { path: CLOSED, body: { presence: 'available' } })
  await record('settings.set', { path: PHONE, body: { groupsIgnore: true } })
  await refuse('settings.set', { path: PHONE, body: { groupsIgnore: 'yes' } })
  await record('settings.find', { path: PHONE })
  await refuse('instance.logout', { path: CLOSED })
  await refuse('instance.fetchInstances', { query: { instanceName: 'unknown' } })
  for (const id of ['instance.connect', 'instance.connectionState', 'instance.restart', 'instance.delete']) {
    await refuse(id, { path: UNKNOWN })
  }
  for (const id of ['webhook.find', 'settings.find']) await refuse(id, { path: UNKNOWN })
}

async function recordSends({ record, refuse, world, organization }: Scene): Promise<void> {
  const to = { number: ANA }
  const card = (colour: string) => ({
    body: `A ${colour} mug`,
    imageUrl: `https://shop.example/${colour}.jpg`,
    buttons: [{ type: 'url', displayText: 'Buy', url: `https://shop.example/${colour}` }],
  })
  const row = { title: 'Rice', rowId: 'rice', description: 'White' }
  const sends: Record<string, [fields: object, refused: object]> = {
    sendText: [{ text: 'Hello' }, {}],
    sendLocation: [
      { latitude: -23.55, longitude: -46.63, name: 'Shop' },
      { latitude: 91, longitude: 0 },
    ],
    sendContact: [{ contact: [{ fullName: 'Bruno Lima', phoneNumber: '+55 11 91234-5678' }] }, { contact: [] }],
    sendTemplate: [
      { name: 'hello_world', language: 'en_US' },
      { name: 'summer_sale', language: 'en_US' },
    ],
    sendList: [
      { title: 'Menu', description: 'Choose', buttonText: 'Open', sections: [{ title: 'Food', rows: [row] }] },
      { title: 'Menu', description: 'Choose', buttonText: 'Open', sections: [] },
    ],
    sendButtons: [
      { title: 'Go on?', buttons: [{ type: 'reply', displayText: 'Yes', id: 'yes' }] },
      { title: 'Go on?', buttons: [] },
    ],
    sendCarousel: [
      { body: 'Our mugs', cards: ['blue', 'red'].map(card) },
      { body: 'Our mugs', cards: [card('blue')] },
    ],
  }
  for (const [verb, [fields, refused]] of Object.entries(sends)) {
    await record(`message.${verb}`, { path: SHOP, body: { ...to, ...fields } })
    await world.settle()
    await refuse(`message.${verb}`, { path: SHOP, body: { ...to, ...refused } })
  }
  const poll = { name: 'Lunch?', selectableCount: 1, values: ['Yes', 'No'] }
  await record('message.sendPoll', { path: PHONE, body: { ...to, ...poll } })
  await refuse('message.sendPoll', { path: PHONE, body: { ...to, ...poll, values: ['Yes'] } })
  const message = textMessage(ANA, 'Good morning')
  await receiveMessages(world, organization, message)
  const key = { id: message.id, fromMe: false, remoteJid: ANA_JID }
  await record('message.sendReaction', { path: SHOP, body: { key, reaction: '👍' } })
  await refuse('message.sendReaction', { path: SHOP, body: { key: { ...key, id: 'unknown' }, reaction: '👍' } })
}

async function recordFiles({ record, refuse, files }: Scene): Promise<void> {
  const to = { number: ANA }
  const sends: Record<string, [fields: object, refused: object]> = {
    sendMedia: [
      { mediatype: 'image', media: `${files}/jpeg/shop.jpg`, caption: 'Our shop' },
      { mediatype: 'image', media: `${files}/pdf/offer.pdf` },
    ],
    sendWhatsAppAudio: [{ audio: `${files}/ogg/hello.ogg` }, { audio: `${files}/pdf/offer.pdf` }],
    sendAudio: [{ audio: `${files}/ogg/hello.ogg` }, { audio: `${files}/pdf/offer.pdf` }],
    sendSticker: [{ sticker: `${files}/webp/smile.webp` }, { sticker: `${files}/pdf/offer.pdf` }],
  }
  for (const [verb, [fields, refused]] of Object.entries(sends)) {
    await record(`message.${verb}`, { path: PHONE, body: { ...to, ...fields } })
    await refuse(`message.${verb}`, { path: PHONE, body: { ...to, ...refused } })
  }
}

async function recordRoundVideo({ record, refuse, world, network, organization, files }: Scene): Promise<void> {
  const { key } = organization
  const body = { instanceName: 'linked', integration: 'WHATSAPP-BAILEYS', qrcode: true }
  const made = await world.request('POST', '/gateway/instance/create', { key, body })
  network.scan(made.body.qrcode.code, LINKED_NUMBER)
  const state = async () =>
    (await world.request('GET', '/gateway/instance/connectionState/linked', { key })).body.instance.state
  await expect.poll(state).toBe('open')
  const video = { number: ANA, video: `${files}/mp4/hello.mp4` }
  await record('message.sendPtv', { path: LINKED, body: video })
  await refuse('message.sendPtv', { path: SHOP, body: video })
}

/** What the networks tell besides messages: presence, a call, changes of a group. */
async function recordSignals({ world, network, organization, endpoint }: Scene): Promise<void> {
  const webhook = { url: endpoint.url, events: ['PRESENCE_UPDATE'] }
  await world.request('POST', '/gateway/webhook/set/linked', { key: organization.key, body: { webhook } })
  const presences = { [ANA_JID]: { lastKnownPresence: 'composing' } }
  network.raise(LINKED_NUMBER, 'presence.update', { id: ANA_JID, presences })
  const isRaised = async () => {
    const sql = `SELECT FROM events WHERE organization_id = $1 AND type = 'instance.signal'`
    return (await world.database.pool.query(sql, [organization.id])).rowCount
  }
  await expect.poll(isRaised).toBe(1)
  const number = { phone_number_id: organization.phoneNumberId }
  await world.sim('POST', '/call', { ...number, from: ANA, id: 'wacid.Mw==' })
  const group = { ...number, group_id: 'Y2FwaV9ncm91cDpleGFtcGxl' }
  await world.sim('POST', '/group', { ...group, event: 'created', subject: 'Choir' })
  await world.sim('POST', '/group', { ...group, event: 'settings', subject: 'Choir of the shop' })
  await world.sim('POST', '/group', { ...group, event: 'joined', people: [{ from: ANA }] })
  await world.settle()
}

async function recordReading({ record, refuse, world, organization }: Scene): Promise<void> {
  const from = { organization_id: organization.id, ...PHONE, from: ANA, name: 'Ana Souza' }
  await world.sim('POST', '/inbound', { ...from, type: 'text', text: { body: 'Hi' } })
  await world.settle()
  const where = { remoteJid: ANA_JID }
  const found = await record('chat.findMessages', { path: PHONE, body: { where: { key: where }, offset: 1 } })
  await refuse('chat.findMessages', { path: PHONE, body: { where: 'all' } })
  const { key } = found.body.messages.records[0]
  await record('chat.findStatusMessage', { path: SHOP, body: { where, offset: 2 } })
  await refuse('chat.findStatusMessage', { path: SHOP, body: { where: 'all' } })
  await record('chat.findChats', { path: PHONE, body: { where } })
  await refuse('chat.findChats', { path: PHONE, body: { take: -1 } })
  await record('chat.findChatByRemoteJid', { path: PHONE, query: where })
  await refuse('chat.findChatByRemoteJid', { path: PHONE })
  await record('chat.findContacts', { path: PHONE, body: { where } })
  await refuse('chat.findContacts', { path: PHONE, body: { where: 'all' } })
  await record('chat.markMessageAsRead', { path: PHONE, body: { readMessages: [key] } })
  await refuse('chat.markMessageAsRead', { path: PHONE, body: { readMessages: [] } })
}

async function recordMarks({ record, refuse }: Scene): Promise<void> {
  const unknown = '5511900000000'
  await record('chat.markChatUnread', { path: PHONE, body: { chat: ANA_JID } })
  await refuse('chat.markChatUnread', { path: PHONE, body: { chat: unknown } })
  await record('chat.archiveChat', { path: PHONE, body: { chat: ANA_JID, archive: true } })
  await refuse('chat.archiveChat', { path: SHOP, body: { chat: ANA_JID, archive: true } })
}

async function recordChanges({ record, refuse, world, organization, files }: Scene): Promise<void> {
  const { key: apiKey } = organization
  const send = async (verb: string, body: object) => {
    const { body: sent } = await world.request('POST', `/gateway/message/${verb}/phone`, {
      key: apiKey,
      body: { number: ANA, ...body },
    })
    return sent.key
  }
  const key = await send('sendText', { text: 'God day' })
  await record('chat.updateMessage', { path: PHONE, body: { number: ANA, text: 'Good day', key } })
  await refuse('chat.updateMessage', { path: SHOP, body: { number: ANA, text: 'Good day', key } })
  await record('chat.deleteMessageForEveryone', { path: PHONE, body: key })
  await refuse('chat.deleteMessageForEveryone', { path: PHONE, body: { ...key, id: 'unknown' } })
  const image = await send('sendMedia', { mediatype: 'image', media: `${files}/jpeg/shop.jpg` })
  await record('chat.getBase64FromMediaMessage', { path: PHONE, body: { message: { key: { id: image.id } } } })
  await refuse('chat.getBase64FromMediaMessage', { path: PHONE, body: { message: { key: { id: 'unknown' } } } })
  // A contact changes a message, and takes it back.
  const timestamp = String(Math.floor(world.now().getTime() / 1_000))
  const message = textMessage(ANA, 'See you at 9', { timestamp })
  const id = String(message.id)
  const edit = { original_message_id: id, message: { type: 'text', text: { body: 'See you at 10' } } }
  await receiveMessages(
    world,
    organization,
    message,
    { from: ANA, id: wamid(), timestamp, type: 'edit', edit },
    { from: ANA, id: wamid(), timestamp, type: 'revoke', revoke: { original_message_id: id } },
  )
  await world.request('PATCH', `/contact?phone_number=${ANA}`, { key: apiKey, body: { full_name: 'Ana Souza Lima' } })
  await world.settle()
}

async function recordPeople({ record, refuse, world, organization }: Scene): Promise<void> {
  const to = { number: ANA }
  await record('chat.whatsappNumbers', { path: PHONE, body: { numbers: [ANA, '5511900000001'] } })
  await refuse('chat.whatsappNumbers', { path: CLOSED, body: { numbers: [ANA] } })
  await record('chat.sendPresence', { path: PHONE, body: { ...to, presence: 'composing', delay: 5 } })
  await refuse('chat.sendPresence', { path: PHONE, body: { ...to, presence: 'asleep' } })
  for (const verb of ['fetchProfile', 'fetchProfilePictureUrl']) {
    await record(`chat.${verb}`, { path: PHONE, body: to })
    await refuse(`chat.${verb}`, { path: SHOP, body: to })
  }
  const hello = { from: ANA, type: 'text', text: { body: 'Hello again' } }
  await world.sim('POST', '/inbound', { phone_number_id: organization.phoneNumberId, ...hello })
  await world.settle()
  await record('chat.updateBlockStatus', { path: SHOP, body: { ...to, status: 'block' } })
  await refuse('chat.updateBlockStatus', { path: PHONE, body: { ...to, status: 'block' } })
}

async function recordEnd({ record, world }: Scene): Promise<void> {
  await record('instance.restart', { path: PHONE })
  await world.settle()
  await record('instance.logout', { path: PHONE })
  await world.settle()
  await record('instance.delete', { path: CLOSED })
}

/** Keeps the first event of each kind. Those of several instances come in any order, so the shop's go first. */
function keepEvents({ keep, endpoint }: Scene): void {
  const all = endpoint.received.map(({ body }) => body)
  const bodies = [...all.filter(({ instance }) => instance === 'shop'), ...all]
  for (const kind of [...new Set(bodies.map(({ event }) => event))].sort()) {
    keep(
      `event.on${nameOfKind(kind)}`,
      bodies.find(({ event }) => event === kind),
    )
  }
}
