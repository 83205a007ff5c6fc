import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/lib/text/json.js'
import { createContact } from '../../support/contacts.js'
import { requestAsDescribed } from '../../support/openapi.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const GROUP = 'Z3JvdXAtb2YtdGhlLXNhbXBsZXM'
const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

/** The organization's only contact, a group. */
async function group(at = organization) {
  const { body } = await requestAsDescribed(world)('GET', '/conversations?action=contacts', { key: at.key })
  expect(body.contacts).toHaveLength(1)
  return body.contacts[0]
}

async function lines(at = organization): Promise<JsonObject[]> {
  const { id } = await group(at)
  const path = `/conversations?contactId=${id}&ascending=true`
  return (await requestAsDescribed(world)('GET', path, { key: at.key })).body.messages
}

async function change(fields: object): Promise<void> {
  const body = { phone_number_id: organization.phoneNumberId, group_id: GROUP, ...fields }
  expect((await world.sim('POST', '/group', body)).status).toBe(200)
  await world.settle()
}

const at = (minute: number) => 1_795_000_000 + 60 * minute

describe('a change of a group, as published,', () => {
  it('makes the group a contact with its name, and shows as a line that nobody wrote', async () => {
    await receiveSamples(world, organization, 'group-created')
    expect(await group()).toMatchObject({
      ...{ is_group: true, full_name: 'Friends of mugs', phone_number: null, has_unread_messages: false },
      group: { description: null, suspended: false, deleted_at: null, participants: [] },
    })
    expect(await lines()).toMatchObject([
      {
        ...{ message_type: 'group', sender_type: 'system', message: 'The group "Friends of mugs" was created' },
        content: { type: 'group', event: 'created', subject: 'Friends of mugs', people: [], by: null },
      },
    ])
  })

  it('renames it, and a later message of the group does not', async () => {
    await receiveSamples(world, organization, 'group-created', 'group-settings', 'group-text')
    expect(await group()).toMatchObject({ full_name: 'Friends of tea' })
    expect((await lines()).map(({ message }) => message)).toEqual([
      'The group "Friends of mugs" was created',
      'The group is called "Friends of tea" now',
      'Shall we meet at noon?',
    ])
  })

  it('does not list who was erased', async () => {
    await change({ event: 'joined', people: [{ from: ANA }, { from: '447700900123' }] })
    const other = await world.createOrganization()
    await receiveSamples(world, other, 'group-joined')
    await createContact(world, organization, `+${ANA}`)
    await world.request('DELETE', `/contact?chat_id=${ANA}`, { key: organization.key })
    await world.drain()
    const numbers = async (of = organization) =>
      (await group(of)).group.participants.map(({ phone_number }: { phone_number: string }) => phone_number)
    expect(await numbers()).toEqual(['+447700900123'])
    expect(await numbers(other)).toEqual([`+${ANA}`])
  })

  it('lists who joined, until they leave', async () => {
    await receiveSamples(world, organization, 'group-joined')
    const member = { name: null, phone_number: `+${ANA}`, user_id: 'US.10990000000000000147', username: null }
    expect((await group()).group.participants).toEqual([member])
    await receiveSamples(world, organization, 'group-left', 'group-join-request', 'group-joined')
    expect((await group()).group.participants).toEqual([])
    expect((await lines()).map(({ message }) => message)).toEqual([
      `+${ANA} joined`,
      `+${ANA} left`,
      '+447700900123 asked to join',
    ])
  })

  it('says that it is suspended, or deleted', async () => {
    await receiveSamples(world, organization, 'group-suspended', 'group-deleted')
    expect((await group()).group).toMatchObject({ suspended: true, deleted_at: '2026-11-18T11:22:20.000Z' })
  })

  it('changes nothing when it comes again', async () => {
    await receiveSamples(world, organization, 'group-created', 'group-joined')
    const before = [await group(), await lines(), await eventsOf(world, organization)]
    await receiveSamples(world, organization, 'group-created', 'group-joined')
    expect([await group(), await lines(), await eventsOf(world, organization)]).toEqual(before)
  })

  it('of another organization changes only that one', async () => {
    const other = await world.createOrganization()
    await receiveSamples(world, organization, 'group-created')
    await receiveSamples(world, other, 'group-created', 'group-settings')
    expect(await group()).toMatchObject({ full_name: 'Friends of mugs' })
    expect(await group(other)).toMatchObject({ full_name: 'Friends of tea' })
    const key = other.key
    const { id } = await group()
    expect((await world.request('GET', `/conversations?contactId=${id}`, { key })).status).toBe(404)
  })
})

describe('changes in any order', () => {
  it('end as the newest of each kind says', async () => {
    await change({ event: 'left', people: [{ from: ANA }], timestamp: at(3) })
    await change({ event: 'joined', people: [{ from: ANA }, { user_id: 'US.5' }], timestamp: at(1) })
    await change({ event: 'settings', subject: 'Tea', timestamp: at(5) })
    await change({ event: 'settings', subject: 'Mugs', description: 'Of all colours', timestamp: at(4) })
    await change({ event: 'resumed', timestamp: at(7) })
    await change({ event: 'suspended', timestamp: at(6) })
    expect(await group()).toMatchObject({
      full_name: 'Tea',
      group: {
        ...{ description: 'Of all colours', suspended: false },
        participants: [{ name: null, phone_number: null, user_id: 'US.5', username: null }],
      },
    })
  })

  it('know a participant by number or user id, and keep both', async () => {
    await change({ event: 'joined', people: [{ from: ANA }, { user_id: 'US.5' }], timestamp: at(1) })
    await change({ event: 'joined', people: [{ from: ANA, user_id: 'US.5', username: 'ana' }], timestamp: at(2) })
    await change({ event: 'joined', people: [{ user_id: 'US.5' }], timestamp: at(3) })
    const ana = { name: null, phone_number: `+${ANA}`, user_id: 'US.5', username: 'ana' }
    expect((await group()).group.participants).toEqual([ana])
  })

  it('are told by group.updated, and nothing that a bot would answer', async () => {
    await change({ event: 'join_requested', people: [{ from: ANA }], timestamp: at(1) })
    const [told, ...others] = await eventsOf(world, organization, 'group.updated')
    expect(others).toEqual([])
    expect(told?.data.message).toMatchObject({ message_type: 'group', text: `+${ANA} asked to join` })
    expect(await eventsOf(world, organization, 'message.received')).toEqual([])
  })

  it('are told by contact.updated, each once', async () => {
    await change({ event: 'created', subject: 'Mugs', timestamp: at(1) })
    await change({ event: 'joined', people: [{ from: ANA }], timestamp: at(2) })
    const updated = await eventsOf(world, organization, 'contact.updated')
    expect(updated.map(({ data }) => data.contact.full_name)).toEqual(['Mugs', 'Mugs'])
    expect(updated[1]?.data.contact.business_group.participants).toMatchObject([{ phone_number: `+${ANA}` }])
  })
})

describe('what cannot be read', () => {
  const post = (value: object, field = 'group_participants_update') =>
    world.sim('POST', '/callback', { phone_number_id: organization.phoneNumberId, field, value })

  it('and what failed, changes nothing', async () => {
    const failed = { update_successful: false, errors: [{ code: 131_000 }] }
    await post({ groups: [{ group_id: GROUP, group_subject: { text: 'No', ...failed } }] }, 'group_settings_update')
    await post({ groups: [{ type: 'group_create', request_id: 'x', errors: [{ code: 131_000 }] }] })
    await post({ groups: [{ group_id: GROUP, type: 'group_participants_add', added_participants: [{}, 7, null] }] })
    await post({ groups: [{ group_id: 5, type: 'group_delete' }, null, 'x'] })
    await post({ groups: 'none' })
    await world.settle()
    const { body } = await world.request('GET', '/conversations?action=contacts', { key: organization.key })
    expect(body.contacts).toEqual([])
  })

  it('too many people are cut', async () => {
    const people = Array.from({ length: 150 }, (_, index) => ({ user_id: `US.${index}` }))
    const group_ = { group_id: GROUP, type: 'group_add_participants', timestamp: at(1), added_participants: people }
    await post({ groups: [group_] }, 'group_participant_update')
    await world.settle()
    expect((await group()).group.participants).toHaveLength(100)
  })
})
