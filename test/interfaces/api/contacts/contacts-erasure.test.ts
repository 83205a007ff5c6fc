import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { signIn } from '../../../support/console.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { callbackRows } from '../../../support/rows/callbacks.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
let organization: TestOrganization
let other: TestOrganization
let number: string

beforeEach(async () => {
  organization = await world.createOrganization()
  other = await world.createOrganization()
  number = '5511976543210'
})

const erase = (query = `chat_id=${number}`, key = organization.key) => request('DELETE', `/contact?${query}`, { key })
const get = (key = organization.key) => request('GET', `/contact?chat_id=${number}`, { key })

/** A contact created with an Idempotency-Key, with received and sent messages. */
async function converse({ key, phoneNumberId }: TestOrganization): Promise<string> {
  const headers = { 'idempotency-key': `make-${number}` }
  const made = await request('POST', '/contact', { key, headers, body: { chat_id: number, full_name: 'Ana Secret' } })
  expect(made.status).toBe(201)
  const text = { body: 'a secret question' }
  await world.sim('POST', '/inbound', { phone_number_id: phoneNumberId, from: number, type: 'text', text })
  await world.settle()
  const body = { phone_number: number, message_type: 'text', text: 'a secret answer' }
  const sent = await request('POST', '/send-chat', { key, headers: { 'idempotency-key': `send-${number}` }, body })
  expect(sent.status).toBe(200)
  await world.settle()
  return made.body.contact.id
}

/**
 * The number of the organization's rows that still contain the number, the contact's id or a word of the conversation.
 */
async function traces(organizationId: string, contactId: string): Promise<Record<string, number>> {
  const { rows: tables } = await world.database.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'organization_id'`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const { rows } = await world.database.pool.query<{ found: number }>(
      `SELECT count(*) AS found FROM ${name} t
       WHERE organization_id = $1 AND EXISTS (
         SELECT FROM unnest($2::text[]) AS word
         WHERE position(word IN t::text) > 0 OR position(encode(convert_to(word, 'UTF8'), 'hex') IN t::text) > 0
       )`,
      [organizationId, [number, 'secret']],
    )
    const named = await world.database.pool.query<{ found: number }>(
      `SELECT count(*) AS found FROM ${name} t WHERE organization_id = $1 AND position($2 IN t::text) > 0`,
      [organizationId, contactId],
    )
    if (rows[0]?.found) counts[name] = rows[0].found
    if (named.rows[0]?.found && name !== 'events') counts[`${name}, id`] = named.rows[0].found
  }
  // SQL does not look into packed bodies.
  const bodies = await callbackRows(world, { organization_id: organizationId })
  const naming = bodies.filter(({ body }) => [number, 'secret'].some((word) => body.includes(word)))
  if (naming.length > 0) counts.callbacks = naming.length
  return counts
}

describe('DELETE /contact', () => {
  it('returns 200 and erases contact, addresses, messages, events, raw callbacks and kept answers', async () => {
    const id = await converse(organization)
    const before = await traces(organization.id, id)
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining(['contacts', 'contact_addresses', 'messages', 'events', 'callbacks', 'idempotency_keys']),
    )
    const answer = await erase()
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ success: true, message: expect.stringContaining(number) })
    await world.drain()
    expect(await traces(organization.id, id)).toEqual({})
    expect((await get()).status).toBe(404)
    const conversation = await request('GET', `/conversations?chatNumber=${number}`, { key: organization.key })
    expect(conversation.status).toBe(404)
  })

  it('erases it from stored import reports, also those of the console', async () => {
    const { call } = await signIn(world, organization)
    const id = await converse(organization)
    const body = `phone_number\n+${number}\n`
    for (const path of ['/contacts/import', '/opt-outs/import']) {
      const headers = { 'content-type': 'text/csv', 'idempotency-key': `report-${path}` }
      expect((await request('POST', path, { key: organization.key, body, headers })).status).toBe(200)
      expect((await call('POST', path, { body, headers })).status).toBe(200)
    }
    expect((await erase()).status).toBe(200)
    await world.drain()
    expect(await traces(organization.id, id)).toEqual({})
  })

  it('erases it from stored answers to marks of its conversation', async () => {
    const id = await converse(organization)
    for (const path of ['/conversations/read', '/conversations/typing']) {
      const headers = { 'idempotency-key': `mark-${path}` }
      const answer = await request('POST', path, { key: organization.key, headers, body: { phone_number: number } })
      expect(answer.status).toBe(200)
    }
    expect((await erase()).status).toBe(200)
    await world.drain()
    expect(await traces(organization.id, id)).toEqual({})
  })

  it("leaves another organization's contact with the same number unchanged", async () => {
    const theirs = await converse(other)
    const mine = await converse(organization)
    const before = await traces(other.id, theirs)
    expect((await erase()).status).toBe(200)
    await world.drain()
    expect(await traces(organization.id, mine)).toEqual({})
    expect(await traces(other.id, theirs)).toEqual(before)
    expect((await get(other.key)).body.contact.id).toBe(theirs)
  })

  it("leaves the organization's other contacts unchanged", async () => {
    const neighbour = await converse(organization)
    const kept = number
    number = '5511976543211'
    await converse(organization)
    expect((await erase()).status).toBe(200)
    await world.drain()
    number = kept
    expect((await get()).body.contact.id).toBe(neighbour)
    const { body } = await request('GET', `/conversations?chatNumber=${number}`, { key: organization.key })
    expect(body.count).toBe(2)
  })

  it('finds the contact by every form of its number, and allows a new one', async () => {
    const first = await converse(organization)
    expect((await erase(`phone_number=0${number.slice(2)}`)).status).toBe(200)
    const again = await request('POST', '/contact', {
      key: organization.key,
      headers: { 'idempotency-key': `make-${number}` },
      body: { chat_id: number, full_name: 'Ana Secret' },
    })
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect(again.body.contact.id).not.toBe(first)
    const { body } = await request('GET', `/conversations?chatNumber=${number}`, { key: organization.key })
    expect(body.count).toBe(0)
  })

  it("returns 404 the second time, for an unknown number, and for another organization's contact", async () => {
    await converse(organization)
    expect((await erase(undefined, other.key)).status).toBe(404)
    expect((await get()).status).toBe(200)
    const answers = await Promise.all([erase(), erase(), erase()])
    expect(answers.map(({ status }) => status).sort()).toContain(200)
    const late = await erase()
    expect([late.status, late.body.error]).toEqual([404, 'Contact not found'])
  })

  it('returns 400 without a number, for an invalid one, and for two that differ', async () => {
    await converse(organization)
    expect((await erase('')).body.error).toBe('Missing required parameter')
    expect((await erase('chat_id=12')).body.error).toBe('Invalid parameter')
    expect((await erase(`chat_id=${number}&phone_number=5511977777777`)).body.error).toBe('Invalid parameter')
    expect((await get()).status).toBe(200)
  })

  it('blanks a stored callback once it has been processed', async () => {
    const id = await converse(organization)
    const body = JSON.stringify(statusCallback(organization))
    const signature = createHmac('sha256', organization.appSecret).update(body).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
    expect((await world.request('POST', '/hooks/upstream', { body, headers })).status).toBe(200)
    expect((await erase()).status).toBe(200)
    await world.drain()
    await world.database.pool.query('UPDATE jobs SET run_at = now()')
    await world.drain()
    expect(await traces(organization.id, id)).toEqual({})
  })
})

function statusCallback({ phoneNumberId, businessAccountId }: TestOrganization) {
  const metadata = { display_phone_number: '15550000000', phone_number_id: phoneNumberId }
  const status = { id: 'wamid.unknown', status: 'read', timestamp: '1750000000', recipient_id: number }
  const value = { messaging_product: 'whatsapp', metadata, statuses: [status] }
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: businessAccountId, changes: [{ value, field: 'messages' }] }],
  }
}
