import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/bytes/id.js'
import { insertCallbacks } from '../../../src/storage/callbacks/callbacks.js'
import { updateContact } from '../../../src/storage/contacts/contacts.js'
import { post, receive, receiveMessages, seconds, textMessage, wamid } from '../../support/callbacks.js'
import { contact, createContact } from '../../support/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { type TestOrganization, useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let from: string
let id: string
let people = 0

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
})

beforeEach(async () => {
  from = `1650557${String(++people).padStart(4, '0')}`
  id = await createContact(world, organization, `+${from}`, { full_name: 'Ana' })
})

const change = (body: object, { key }: TestOrganization = organization) =>
  world.request('PATCH', `/contact?chat_id=${from}`, { key, body })
const isArchived = async (of: TestOrganization = organization) =>
  (await contact(world, of, from)).body.contact.archived as boolean
const updates = async () => {
  const events = await eventsOf(world, organization, 'contact.updated')
  return events.filter(({ contact_id }) => contact_id === id).map(({ data }) => data.contact.archived)
}

describe('a message received from a customer', () => {
  it('takes the conversation out of the archive, and contact.updated says so once', async () => {
    await change({ archived: true })
    await receiveMessages(world, organization, textMessage(from, 'are you there?'), textMessage(from, 'hello?'))
    expect(await isArchived()).toBe(false)
    expect(await updates()).toEqual([true, false])
  })

  it('does so among messages of others in one turn, and when it brings a file', async () => {
    await change({ archived: true })
    const photo = { ...textMessage(from, ''), type: 'image', image: { id: '1', mime_type: 'image/png' } }
    const messages = [textMessage('16505579998', 'one'), photo, textMessage('16505579999', 'two')]
    for (const message of messages) await post(world, organization, { messages: [message] })
    await world.drain()
    expect(await isArchived()).toBe(false)
    expect(await updates()).toEqual([true, false])
  })

  it('leaves a blocked contact in the archive', async () => {
    await change({ archived: true, blocked: true })
    await receiveMessages(world, organization, textMessage(from, 'hello?'))
    expect(await isArchived()).toBe(true)
  })

  it('does not concern the contact of another organization', async () => {
    await createContact(world, other, `+${from}`)
    await change({ archived: true }, other)
    await change({ archived: true })
    await receiveMessages(world, organization, textMessage(from, 'hello?'))
    expect([await isArchived(), await isArchived(other)]).toEqual([false, true])
  })
})

describe('what is no message of the customer', () => {
  it('leaves the conversation in the archive: reactions, statuses, repeated callbacks, our own sends', async () => {
    const message = textMessage(from, 'hello')
    await receiveMessages(world, organization, message)
    const body = { phone_number: from, message_type: 'text', text: 'hi' }
    const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
    await change({ archived: true })

    const payload = { message_id: message.id, emoji: '👍' }
    const reaction = { from, id: wamid(), timestamp: seconds(), type: 'reaction', reaction: payload }
    await receiveMessages(world, organization, reaction, message)
    const status = { id: sent.body.data.message_id, status: 'read', timestamp: seconds(), recipient_id: from }
    await receive(world, organization, { statuses: [status] })
    expect((await world.request('POST', '/send-chat', { key: organization.key, body })).status).toBe(200)
    expect(await isArchived()).toBe(true)
  })
})

describe('a message by a linked device', () => {
  let phone: string
  let second: string

  const createDevice = async (name: string): Promise<string> => {
    const instanceId = newId()
    await world.database.pool.query(
      `INSERT INTO instances (organization_id, id, name, kind, state, token, token_hash)
       VALUES ($1, $2, $3, 'linked_device', 'open', '', $4)`,
      [organization.id, instanceId, name, Buffer.from(instanceId)],
    )
    return instanceId
  }
  beforeAll(async () => {
    phone = await createDevice('phone')
    second = await createDevice('second')
  })

  /** As archiveChat does when the network has accepted it. */
  const archiveOnPhone = () =>
    updateContact(world.database, organization.id, id, { archived: true, archivedThrough: phone })
  const hear = async (instanceId: string, more: object, fromMe = false) => {
    const jid = `${from}@s.whatsapp.net`
    const event = {
      ...{ type: 'message', key: { remoteJid: jid, fromMe, id: newId() }, sender: null, pushName: null },
      ...{ chat: { jid, phone: from, lid: null, name: null }, timestamp: 1_750_000_000, ...more },
      message: { conversation: 'are you there?' },
    }
    const body = Buffer.from(JSON.stringify({ object: 'linked_device', events: [event] }))
    await insertCallbacks(world.database, [
      { organizationId: organization.id, id: newId(), body, instanceId, traceparent: null },
    ])
    await world.drain()
  }

  it('leaves the conversation archived if its phone has it in the archive and keeps it there', async () => {
    await archiveOnPhone()
    await hear(phone, { keepsArchived: true })
    expect(await isArchived()).toBe(true)
    await hear(phone, { keepsArchived: false })
    expect(await isArchived()).toBe(false)
  })

  it('takes it out if the phone does not have it in the archive', async () => {
    await change({ archived: true })
    await hear(phone, { keepsArchived: true })
    expect(await isArchived()).toBe(false)
    await archiveOnPhone()
    await hear(second, { keepsArchived: true })
    expect(await isArchived()).toBe(false)
    // The team archives it anew, without the phone.
    await archiveOnPhone()
    await change({ archived: false })
    await change({ archived: true })
    await hear(phone, { keepsArchived: true })
    expect(await isArchived()).toBe(false)
  })

  it('takes it out if the callback was stored before the phone told its setting', async () => {
    await archiveOnPhone()
    await hear(phone, {})
    expect(await isArchived()).toBe(false)
  })

  it('leaves it archived if the team wrote it on the phone', async () => {
    await change({ archived: true })
    await hear(phone, { keepsArchived: false }, true)
    expect(await isArchived()).toBe(true)
  })
})
