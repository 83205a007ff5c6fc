import { beforeEach, describe, expect, it } from 'vitest'
import { eraseContactRows } from '../../../src/core/contacts/erase-contact.js'
import { type FoundViolation, verifyDatabase } from '../../../src/core/maintenance/verify.js'
import { startBroadcastWorld } from '../../support/broadcasts.js'
import { receive, receiveMessages, textMessage, wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations, requestIndexes } from '../../support/conversations.js'
import { eventsOf } from '../../support/rows/events.js'
import { useStarted } from '../../support/started.js'
import { insertDelivery, setWebhook } from '../../support/webhooks.js'

/** With two others, more than two slices; their numbers have one to four digits. */
const MESSAGES = 2_098

const at = useStarted(startBroadcastWorld)
let digits: string
let contactId: string
/** A message that is not among the newest, which are deleted at once. */
let first: { id: string; upstreamId: string }
let fileUrl: string
let broadcastId: string
let neighbour: string

beforeEach(async () => {
  const { world, organization } = at
  ;({ id: contactId, digits } = await at.newContact({ full_name: 'Eva' }))
  neighbour = at.newNumber()
  await receiveMessages(world, organization, textMessage(neighbour, 'stays'))
  const theirs = { phone_number_id: organization.phoneNumberId, from: digits, type: 'image', image: {} }
  await world.sim('POST', '/inbound', theirs)
  await world.settle()
  ;({ id: broadcastId } = await at.send({ audience: { recipients: [{ chatNumber: digits, name: 'Eva' }] } }))
  const [message] = (await readConversations(world, organization, { contactId, ascending: 'true' })).body.messages
  fileUrl = message.media_url
  const { rows } = await world.database.pool.query(
    'SELECT id, upstream_id FROM messages WHERE contact_id = $1 AND broadcast_id IS NOT NULL',
    [contactId],
  )
  first = { id: rows[0].id, upstreamId: rows[0].upstream_id }
  await insertMessages(world, contactId, new Array(MESSAGES).fill('remember the milk'))
  await requestIndexes(world, organization.id)
  await world.drain()
})

const erase = () => at.ask('DELETE', `/contact?chat_id=${digits}`)
const rows = () => eraseContactRows(at.world.app.ctx, at.organization.id, { contactId })

/** How many rows of each table name the contact. */
async function left(): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const table of [
    'contacts',
    'messages',
    'message_search',
    'broadcast_recipients',
    'contact_addresses',
    'notes',
  ]) {
    const column = table === 'contacts' ? 'id' : 'contact_id'
    const counted = await at.world.database.pool.query(
      `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1 AND ${column} = $2`,
      [at.organization.id, contactId],
    )
    if (counted.rows[0].count > 0) found[table] = counted.rows[0].count
  }
  return found
}

async function violations(): Promise<FoundViolation[]> {
  const found: FoundViolation[] = []
  const watcher = {
    begins: () => undefined,
    read: () => undefined,
    note: () => undefined,
    violation: (one: FoundViolation) => found.push(one),
  }
  await verifyDatabase(at.world.app.ctx, undefined, watcher)
  return found
}

async function shownEvents(): Promise<string[]> {
  const { body } = await at.ask('GET', '/events?limit=1000')
  return body.events.map((event: object) => JSON.stringify(event)).filter((text: string) => text.includes(contactId))
}

describe('erasing a contact with more messages than a slice has', () => {
  it('hides it at once, and a job deletes the rest', async () => {
    const { world, organization } = at
    const before = await at.ask('GET', `/broadcast-analytics?broadcast_id=${broadcastId}`)
    expect((await fetch(fileUrl)).status).toBe(200)
    expect((await shownEvents()).length).toBeGreaterThan(2)
    const { id: webhookId } = await setWebhook(world, organization)
    const [event] = await shownEvents()
    const delivery = await insertDelivery(world, organization, webhookId, { eventId: JSON.parse(event as string).id })

    expect((await erase()).status).toBe(200)
    expect((await left()).messages).toBeGreaterThan(100)

    expect((await at.ask('GET', `/contact?chat_id=${digits}`)).status).toBe(404)
    expect((await readConversations(world, organization, { contactId })).status).toBe(404)
    const search = { contactId, query: 'milk' }
    expect((await readConversations(world, organization, search)).status).toBe(404)
    const list = await readConversations(world, organization, { action: 'contacts', limit: '100' })
    expect(JSON.stringify(list.body)).not.toContain(digits)
    expect(JSON.stringify(list.body)).toContain(neighbour)
    expect((await at.ask('GET', '/messages/{id}/trace', { id: first.id })).status).toBe(404)
    expect((await fetch(fileUrl)).status).toBe(404)
    expect(await shownEvents()).toEqual([])
    expect(JSON.stringify(await at.recipients(broadcastId))).not.toContain(digits)
    expect(JSON.stringify(await at.recipients(broadcastId))).not.toContain('Eva')
    expect(await violations()).toEqual([])
    const replayed = await at.ask('POST', '/webhook-deliveries/{id}/replay', { id: delivery })
    expect(replayed.status, JSON.stringify(replayed.body)).toBe(404)

    // A late status finds nothing, and raises nothing.
    await receive(world, organization, {
      statuses: [{ id: first.upstreamId, status: 'read', timestamp: '1750000000' }],
    })
    expect(await shownEvents()).toEqual([])

    await world.drain()
    expect(await left()).toEqual({})
    expect(await violations()).toEqual([])
    expect((await at.ask('GET', `/broadcast-analytics?broadcast_id=${broadcastId}`)).body).toEqual(before.body)
    expect(await at.recipients(broadcastId)).toMatchObject([{ contactId: null, chatNumber: null, status: 'sent' }])
    await at.expectNoDrift()
    const blank = (await eventsOf(world, organization)).filter((event) => event.contact_id === contactId)
    expect(blank.every(({ data }) => Object.keys(data).length === 0)).toBe(true)
  })

  it('frees the number at once: a new contact has none of the messages', async () => {
    const { world, organization } = at
    await erase()
    const id = await createContact(world, organization, `+${digits}`)
    expect(id).not.toBe(contactId)
    await receiveMessages(world, organization, textMessage(digits, 'hello again', { id: wamid() }))
    await world.drain()
    const { body } = await readConversations(world, organization, { chatNumber: digits })
    expect([body.count, body.messages[0].message]).toEqual([1, 'hello again'])
    expect(await left()).toEqual({})
  })

  it('goes on after an interruption, and may be repeated', async () => {
    await erase()
    const before = await left()
    const { ctx } = at.world.app
    await expect(eraseContactRows(ctx, at.organization.id, { contactId }, AbortSignal.abort())).rejects.toThrow()
    expect(await left()).toEqual(before)
    const position = { part: 'words', after: '0' } as const
    expect(await eraseContactRows(ctx, at.organization.id, { contactId, position })).toBeNull()
    const { message_search: _, ...others } = before
    expect(await left()).toEqual(others)
    expect(await rows()).toBeNull()
    expect(await left()).toEqual({})
    await at.world.drain()
    expect(await violations()).toEqual([])
  })

  it('refuses to delete the messages of a contact that is there', async () => {
    await expect(rows()).rejects.toThrow('is not erased')
    expect((await left()).messages).toBe(MESSAGES + 2)
  })

  it('is refused while a legal hold is on, and the other organization erases nothing', async () => {
    const before = await left()
    const hold = `/organizations/${at.organization.id}/hold`
    await at.world.admin('PUT', hold, { reason: 'Case 12/2026' })
    expect(await erase()).toMatchObject({ status: 409, body: { error: 'Legal hold' } })
    await at.world.admin('DELETE', hold)
    const { key } = at.other
    expect((await at.ask('DELETE', `/contact?chat_id=${digits}`, { key })).status).toBe(404)
    expect(await left()).toEqual(before)
  })
})
