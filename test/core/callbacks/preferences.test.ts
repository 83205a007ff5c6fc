import { beforeEach, describe, expect, it } from 'vitest'
import { countersOf, seedBroadcast, seedRecipient } from '../../support/broadcast-rows.js'
import { postBody, receiveMessages, seconds, textMessage } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { contactRow } from '../../support/rows/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let number: string
let id: string
let people = 0

beforeEach(async () => {
  organization = await world.createOrganization()
  number = `1650557${String(1_000 + ++people)}`
  id = await createContact(world, organization, number)
})

/** A wish at this number of seconds after the messages of these tests. */
async function wish(value: string, offset: number, fields: object = {}, at = organization): Promise<void> {
  const preference = { category: 'marketing_messages', detail: `User: ${value}`, timestamp: Number(seconds(offset)) }
  const answer = await world.sim('POST', '/callback', {
    phone_number_id: at.phoneNumberId,
    field: 'user_preferences',
    value: { user_preferences: [{ wa_id: number, ...preference, value, ...fields }] },
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  await world.settle()
  await world.drain()
}

async function consent() {
  const { allow_broadcast, opted_out_at, opt_out_source, consent_words } = await contactRow(world, { id })
  return { allow_broadcast, opted_out_at, opt_out_source, consent_words }
}

const at = (offset: number) => new Date(Number(seconds(offset)) * 1_000)
const raised = async () => (await eventsOf(world, organization)).map(({ type }) => type)

describe('a person who stops marketing messages in WhatsApp', () => {
  it('is opted out, with the words and the time, once', async () => {
    await wish('stop', 5)
    await wish('stop', 5)
    expect(await consent()).toEqual({
      allow_broadcast: false,
      opted_out_at: at(5),
      opt_out_source: 'upstream',
      consent_words: 'User: stop',
    })
    expect((await raised()).filter((type) => type.startsWith('contact.opted'))).toEqual(['contact.opted_out'])
    const { body } = await world.request('GET', '/opt-outs', { key: organization.key })
    expect(body.optOuts).toMatchObject([{ source: 'upstream', words: 'User: stop' }])
  })

  it('counts as an opt-out of the broadcast of the two days before, once', async () => {
    const broadcast = await seedBroadcast(world, organization)
    await seedRecipient(world, organization, broadcast, { contactId: id, acceptedAt: at(0) })
    await wish('stop', 60)
    await wish('stop', 90)
    expect(await countersOf(world, broadcast)).toEqual({ opted_out: 1 })
  })

  it('is opted in again by resuming them, with the words and the time', async () => {
    await wish('stop', 5)
    await wish('resume', 9)
    expect(await consent()).toEqual({
      allow_broadcast: true,
      opted_out_at: null,
      opt_out_source: null,
      consent_words: 'User: resume',
    })
    const [event, ...others] = await eventsOf(world, organization, 'contact.opted_in')
    expect(others).toEqual([])
    expect(event?.data).toMatchObject({ source: 'upstream', contact: { id, consent_words: 'User: resume' } })
  })

  it.each<[string, [string, number][], boolean]>([
    [
      'the newest wish counts',
      [
        ['stop', 5],
        ['resume', 9],
      ],
      true,
    ],
    [
      'the newest wish counts',
      [
        ['stop', 5],
        ['resume', 7],
        ['stop', 9],
      ],
      false,
    ],
    [
      'at the same time, it is the opt-out',
      [
        ['resume', 5],
        ['stop', 5],
      ],
      false,
    ],
  ])('%s, in every order', async (_name, wishes, allows) => {
    for (const order of permutations(wishes)) {
      number = `1650557${String(1_000 + ++people)}`
      id = await createContact(world, organization, number)
      for (const [value, offset] of order) await wish(value, offset)
      expect((await consent()).allow_broadcast, JSON.stringify(order)).toBe(allows)
    }
  })

  it('stays opted out if the opt-out was an own reply, or on an imported list', async () => {
    await receiveMessages(world, organization, textMessage(number, 'STOP'))
    await wish('resume', 9)
    expect(await consent()).toMatchObject({ allow_broadcast: false, opt_out_source: 'reply', consent_words: 'STOP' })
    const imported = `1650557${String(1_000 + ++people)}`
    await world.request('POST', '/opt-outs/import', {
      key: organization.key,
      body: `phone_number,opted_out_at\n${imported},2025-01-01\n`,
      headers: { 'content-type': 'text/csv' },
    })
    await wish('resume', 9, { wa_id: imported })
    const listed = await world.request('GET', '/opt-outs', { key: organization.key })
    expect(listed.body.optOuts.map(({ source }: { source: string }) => source).sort()).toEqual(['import', 'reply'])
  })

  it.each<[string, () => Promise<unknown>]>([
    ['after', () => wish('stop', -5)],
    ['before', () => wish('stop', 5)],
  ])('stays opted out by a reply that came %s the wish', async (_name, stop) => {
    await stop()
    await receiveMessages(world, organization, textMessage(number, 'STOP'))
    await wish('resume', 9)
    expect(await consent()).toMatchObject({ allow_broadcast: false, opt_out_source: 'reply', consent_words: 'STOP' })
    expect((await raised()).filter((type) => type.startsWith('contact.opted'))).toEqual(['contact.opted_out'])
    await receiveMessages(world, organization, textMessage(number, 'START', { timestamp: seconds(20) }))
    expect((await consent()).allow_broadcast).toBe(true)
  })

  it('becomes a contact if nobody knows the number, so that no later broadcast reaches it', async () => {
    const stranger = `1650557${String(1_000 + ++people)}`
    await wish('stop', 5, { wa_id: stranger })
    const { body } = await world.request('GET', `/contact?chat_id=${stranger}`, { key: organization.key })
    expect(body.contact).toMatchObject({ chat_id: stranger, allow_broadcast: false })
  })

  it('is not opted out by a preference about anything else, or by one that says nothing', async () => {
    await wish('stop', 5, { category: 'service_messages' })
    await wish('pause', 5)
    await wish('stop', 5, { wa_id: { $ne: null } })
    expect((await consent()).allow_broadcast).toBe(true)
  })

  it("does not change another organization's contact of the same number", async () => {
    const other = await world.createOrganization()
    await wish('stop', 5, {}, other)
    expect((await consent()).allow_broadcast).toBe(true)
  })
})

describe('the published samples', () => {
  it('opt a person out and in, found by number or user id', async () => {
    await receiveSamples(world, organization, 'user-preferences-stop')
    const { body } = await world.request('GET', '/opt-outs', { key: organization.key })
    expect(body.optOuts).toMatchObject([
      { chatNumber: '12025550147', contactName: 'Ana Example', words: 'User requested to stop marketing messages' },
    ])
    await receiveSamples(world, organization, 'user-preferences-resume')
    // Both are of the same second: the opt-out counts.
    expect((await world.request('GET', '/opt-outs', { key: organization.key })).body.count).toBe(1)
  })

  it('with values of other types are acknowledged, and change nothing', async () => {
    const value = { metadata: { phone_number_id: organization.phoneNumberId }, user_preferences: [null, 7, [], {}] }
    const body = { entry: [{ id: organization.businessAccountId, changes: [{ field: 'user_preferences', value }] }] }
    expect((await postBody(world, JSON.stringify(body), organization.appSecret)).status).toBe(200)
    await world.drain()
    expect(await raised()).not.toContain('contact.opted_out')
  })
})

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  )
}
