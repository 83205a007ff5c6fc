import { describe, expect, it } from 'vitest'
import { receive, seconds, textMessage, type WireMessage } from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { peopleOf } from '../../../support/people.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const request = requestAsDescribed(world)
const { newNumber, newUserId, take } = peopleOf(() => ({ world, organization }))

const withoutNumber = (from_user_id: string, fields: WireMessage = {}): WireMessage => {
  const { from: _, ...message } = textMessage('', 'hi', { from_user_id, ...fields })
  return message
}

async function idOf(query: string): Promise<string> {
  const { body } = await request('GET', `/contact?${query}`, { key: organization.key })
  return body.contact.id
}

/** The events of merges as the feed shows them. */
async function merges(key = organization.key): Promise<{ contact: { id: string }; merged_contact_id: string }[]> {
  const { body } = await request('GET', '/events?types=contact.merged&limit=1000', { key })
  return body.events.map(({ data }: { data: object }) => data)
}

/** The event of the only merge into the contact. */
async function mergeInto(contactId: string): Promise<object> {
  const found = (await merges()).filter(({ contact }) => contact.id === contactId)
  expect(found).toHaveLength(1)
  return found[0] as object
}

describe('a merge raises contact.merged', () => {
  it('with both ids, when a message has both addresses', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await take(textMessage(number, 'one'), withoutNumber(userId))
    const [kept, gone] = [await idOf(`phone_number=${number}`), await idOf(`user_id=${userId}`)]
    await take(textMessage(number, 'two', { from_user_id: userId }))
    expect(await mergeInto(kept)).toMatchObject({
      contact: { id: kept, phone_number: `+${number}`, user_id: userId },
      merged_contact_id: gone,
      cause: 'seen_together',
    })
    expect(await idOf(`user_id=${userId}`)).toBe(kept)
  })

  it('when a status has both', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const kept = await createContact(world, organization, `+${number}`)
    await take(withoutNumber(userId))
    const gone = await idOf(`user_id=${userId}`)
    await world.sim('POST', '/settings', { statuses: false })
    const body = { phone_number: number, message_type: 'text', text: 'hello' }
    const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
    const status = { id: sent.body.data.message_id, status: 'delivered', timestamp: seconds() }
    await receive(world, organization, {
      statuses: [{ ...status, recipient_id: number, recipient_user_id: userId }],
    })
    expect(await mergeInto(kept)).toMatchObject({ merged_contact_id: gone, cause: 'seen_together' })
  })

  it('when the upstream announces the change after messages under the new id', async () => {
    const [before, after] = [newUserId(), newUserId()]
    await take(withoutNumber(before), withoutNumber(after, { timestamp: seconds(20) }))
    const [kept, gone] = [await idOf(`user_id=${before}`), await idOf(`user_id=${after}`)]
    const user_id = { previous: before, current: after }
    await receive(world, organization, { user_id_update: [{ user_id, timestamp: Number(seconds(10)) }] })
    expect(await mergeInto(kept)).toMatchObject({ merged_contact_id: gone, cause: 'announced' })
    expect(await idOf(`user_id=${after}`)).toBe(kept)
  })

  it('once, if the message that shows it comes again', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await take(textMessage(number, 'one'), withoutNumber(userId))
    const both = textMessage(number, 'two', { from_user_id: userId })
    await take(both, both)
    await mergeInto(await idOf(`phone_number=${number}`))
  })

  it('in its organization only', async () => {
    const other = await world.createOrganization()
    const [number, userId] = [newNumber(), newUserId()]
    await take(textMessage(number, 'one'), withoutNumber(userId), textMessage(number, 'two', { from_user_id: userId }))
    expect(await merges(other.key)).toEqual([])
  })
})
