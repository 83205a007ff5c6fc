import { describe, expect, it } from 'vitest'
import { prune } from '../../../../src/core/maintenance/maintenance.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import {
  changeFor,
  envelope,
  postBody,
  receive,
  seconds,
  textMessage,
  type WireMessage,
  wamid,
} from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { peopleOf } from '../../../support/people.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const { newNumber, newUserId, take } = peopleOf(() => ({ world, organization }))

const find = async (query: string) =>
  (await world.request('GET', `/contact?${query}`, { key: organization.key })).body.contact
const hidden = (from_user_id: string, fields: WireMessage = {}): WireMessage => {
  const { from: _, ...message } = textMessage('', 'hi', { from_user_id, ...fields })
  return message
}

/** Adds a user id to a contact, as an older version or the answer to a send does: it leads to it and is not shown. */
function addId(contactId: string, userId: string, { instanceId = null, leftAt = null }: AddedId = {}) {
  return world.database.pool.query(
    `INSERT INTO contact_addresses (organization_id, address, contact_id, instance_id, left_at) VALUES ($1, $2, $3, $4, $5)`,
    [organization.id, `user:${userId}`, contactId, instanceId, leftAt],
  )
}
interface AddedId {
  instanceId?: string | null
  leftAt?: Date | null
}

const setShown = (contactId: string, userId: string | null) =>
  world.database.pool.query('UPDATE contacts SET user_id = $3 WHERE organization_id = $1 AND id = $2', [
    organization.id,
    contactId,
    userId,
  ])

describe('the user id that a contact shows', () => {
  it('is not a former one that a late message brings', async () => {
    const [number, former, current] = [newNumber(), newUserId(), newUserId()]
    const id = await createContact(world, organization, `+${number}`)
    await addId(id, former, { leftAt: new Date() })
    await addId(id, current)
    await take(hidden(former))
    expect(await find(`phone_number=${number}`)).toMatchObject({ user_id: null })
    await take(hidden(current))
    expect(await find(`phone_number=${number}`)).toMatchObject({ user_id: current })
  })

  it('is shown once a day where it was not', async () => {
    const [own, ofInstance, both] = [newNumber(), newNumber(), newNumber()]
    const ids = [newUserId(), newUserId(), newUserId(), newUserId()] as const
    const numbers = [own, ofInstance, both]
    const contacts = await Promise.all(numbers.map((number) => createContact(world, organization, `+${number}`)))
    const [first = '', second = '', third = ''] = contacts
    await addId(first, ids[0])
    await addId(second, ids[1], { instanceId: newId() })
    await addId(third, ids[2], { instanceId: newId() })
    await addId(third, ids[3])
    const without = newNumber()
    await createContact(world, organization, `+${without}`)
    await prune(world.app.work)
    const shown = async (number: string) => (await find(`phone_number=${number}`)).user_id
    expect(await Promise.all([own, ofInstance, both, without].map(shown))).toEqual([ids[0], ids[1], ids[3], null])
  })

  it('is that of the own number as soon as a status names it', async () => {
    const [number, ofInstance, own] = [newNumber(), newUserId(), newUserId()]
    const id = await createContact(world, organization, `+${number}`)
    await addId(id, ofInstance, { instanceId: newId() })
    await setShown(id, ofInstance)
    await world.sim('POST', '/settings', { statuses: false })
    const body = { phone_number: number, message_type: 'text', text: 'hello' }
    const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
    await addId(id, own)
    const status = { id: sent.body.data.message_id, status: 'delivered', timestamp: seconds() }
    await receive(world, organization, {
      statuses: [
        { ...status, recipient_id: number, recipient_user_id: own, recipient_parent_user_id: 'US.ENT.778899' },
      ],
    })
    expect(await find(`phone_number=${number}`)).toMatchObject({ user_id: own, parent_user_id: 'US.ENT.778899' })
  })

  it('is that of the own number after a merge with a contact of an instance', async () => {
    const [number, ofInstance, own] = [newNumber(), newUserId(), newUserId()]
    const id = await createContact(world, organization, `+${number}`)
    await addId(id, ofInstance, { instanceId: newId() })
    await setShown(id, ofInstance)
    await take(hidden(own), textMessage(number, 'both', { from_user_id: own }))
    expect(await find(`phone_number=${number}`)).toMatchObject({ id, user_id: own })
  })
})

describe('the parent user id of who is written to or called', () => {
  const parent = () => `US.ENT.${Date.now()}${newNumber()}`
  const post = async (field: string, value: object) => {
    const change = { ...changeFor(organization, value), field }
    const body = JSON.stringify(envelope(organization.businessAccountId, change))
    expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    await world.drain()
  }
  const times = { timestamp: seconds(), start_time: seconds(), end_time: seconds(60) }
  const call = { event: 'terminate', status: 'COMPLETED', ...times }

  it.each([
    [
      'smb_message_echoes',
      (person: Person) => {
        const { from: _, ...text } = textMessage('', 'hello')
        const to = { to: person.number, to_user_id: person.userId, to_parent_user_id: person.parentId }
        return { message_echoes: [{ ...text, from: '15550001111', ...to }] }
      },
    ],
    [
      'calls',
      (person: Person) => {
        const to = { to: person.number, to_user_id: person.userId, to_parent_user_id: person.parentId }
        const from = { from: '15550001111', from_parent_user_id: 'US.ENT.ofthebusiness' }
        return { calls: [{ ...call, id: wamid(), direction: 'BUSINESS_INITIATED', ...from, ...to }] }
      },
    ],
    [
      'calls',
      (person: Person) => {
        const from = { from: person.number, from_user_id: person.userId, from_parent_user_id: person.parentId }
        return { calls: [{ ...call, id: wamid(), direction: 'USER_INITIATED', ...from, to: '15550001111' }] }
      },
    ],
  ])('%s', async (field, value) => {
    const person = { number: newNumber(), userId: newUserId(), parentId: parent() }
    await post(field, value(person))
    expect(await find(`phone_number=${person.number}`)).toMatchObject({
      user_id: person.userId,
      parent_user_id: person.parentId,
    })
  })
})

interface Person {
  number: string
  userId: string
  parentId: string
}

it('who was separated from a contact stays so when that one becomes part of a third one', async () => {
  // Two contacts have a form each of one number, and a third one only a user id.
  const userId = newUserId()
  await take(hidden(userId))
  const [long, short] = ['5511987650001', '551187650001']
  const withLong = await createContact(world, organization, `+${long}`)
  await world.database.pool.query('DELETE FROM contact_addresses WHERE organization_id = $1 AND address = $2', [
    organization.id,
    short,
  ])
  const withShort = await createContact(world, organization, '+5511987650002')
  await world.database.pool.query(
    `WITH renumbered AS (
       UPDATE contacts SET chat_id = $3, phone_number = '+' || $3 WHERE organization_id = $1 AND id = $2
     ), gone AS (
       DELETE FROM contact_addresses WHERE organization_id = $1 AND contact_id = $2
     ), apart AS (
       INSERT INTO contact_merges (organization_id, id, kept_id, gone_id, cause, merged_at, undone_at, first_seq, last_seq, seq_offset)
       VALUES ($1, $5, $4, $2, 'seen_together', now(), now(), 1, 0, 0)
     )
     INSERT INTO contact_addresses (organization_id, address, contact_id) VALUES ($1, $3, $2)`,
    [organization.id, withShort, short, withLong, newId()],
  )
  await take(textMessage(long, 'all three', { from_user_id: userId }))
  const { rows } = await world.database.pool.query(
    'SELECT id FROM contacts WHERE organization_id = $1 AND id = ANY ($2)',
    [organization.id, [withLong, withShort]],
  )
  expect(rows).toHaveLength(1)
})
