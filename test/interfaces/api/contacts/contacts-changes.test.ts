import { beforeEach, describe, expect, it } from 'vitest'
import { CONTACT_FIELDS } from '../../../support/contacts.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
const other = useOrganization(world)
let number: string
let id: string
let numbers = 0

beforeEach(async () => {
  number = `551198${String(++numbers).padStart(7, '0')}`
  const source = { type: 'website' }
  const made = await request('POST', '/contact', { key: organization.key, body: { chat_id: number, source } })
  id = made.body.contact.id
})

const patch = (body: unknown, query = `chat_id=${number}`, key = organization.key) =>
  request('PATCH', `/contact?${query}`, { key, body })
const read = async () => (await request('GET', `/contact?chat_id=${number}`, { key: organization.key })).body.contact
const eventTypes = async () => (await eventsOfContact(world, id)).map(({ type }) => type)

describe('PATCH /contact', () => {
  it.each([
    { full_name: 'Ana Souza' },
    { email: 'ana@example.com' },
    { tags: ['vip', 'new'] },
    { allow_broadcast: false },
    { archived: true },
    { blocked: true },
    { bot_status: 'active' },
    { bot_status: 'paused' },
    { contact_summary: 'Asks for blue shoes' },
  ])('returns 200 with the changed contact, and raises the event: %j', async (changes) => {
    const before = await read()
    const { status, body } = await patch(changes)
    expect(status).toBe(200)
    expect(Object.keys(body.contact)).toEqual(CONTACT_FIELDS)
    const moved = {
      updated_at: body.contact.updated_at,
      contact_summary_updated_at: body.contact.contact_summary_updated_at,
    }
    expect(body.contact).toEqual({ ...before, ...changes, ...moved })
    expect(Date.parse(body.contact.updated_at)).toBeGreaterThanOrEqual(Date.parse(before.updated_at))
    expect(await read()).toEqual(body.contact)
    expect(await eventTypes()).toEqual(['contact.created', 'contact.updated'])
    const [, event] = await eventsOfContact(world, id)
    expect(event?.data.contact).toMatchObject({ id, chat_id: number, source: { type: 'website' }, ...changes })
  })

  it('raises no event and changes no time if nothing changes', async () => {
    const all = { full_name: 'Ana', email: 'a@b', tags: ['x'], archived: true, blocked: true, bot_status: 'paused' }
    const changed = await patch({ ...all, allow_broadcast: false, contact_summary: 'S' })
    const types = await eventTypes()
    for (const same of [{}, all, { tags: ['x', 'x'] }, { contact_summary: 'S' }]) {
      expect((await patch(same)).body).toEqual(changed.body)
    }
    const warnings = ['The field surplus is not known and was ignored.']
    expect((await patch({ surplus: 1 })).body).toEqual({ ...changed.body, warnings })
    expect(await eventTypes()).toEqual(types)
  })

  it('empties fields given as null, and leaves out fields that are not given', async () => {
    await patch({ full_name: 'Ana', email: 'a@b', bot_status: 'active', contact_summary: 'S', tags: ['x'] })
    const emptied = { full_name: null, email: null, bot_status: null, contact_summary: null }
    const { body } = await patch(emptied)
    expect(body.contact).toMatchObject({ ...emptied, tags: ['x'], source: { type: 'website' } })
    expect((await patch({ tags: [] })).body.contact.tags).toEqual([])
  })

  it('leaves fields as they are that are given empty, or as null where that means nothing', async () => {
    const full = { full_name: 'Ana', email: 'a@b', bot_status: 'active', contact_summary: 'S', tags: ['x'] }
    await patch({ ...full, allow_broadcast: false, archived: true })
    const empty = { full_name: '', email: '', bot_status: '', contact_summary: '', tags: null, allow_broadcast: null }
    const { status, body } = await patch({ ...empty, archived: null, blocked: '' })
    expect([status, body.contact]).toMatchObject([200, { ...full, allow_broadcast: false, archived: true }])
  })

  it('sets contact_summary_updated_at only with the summary', async () => {
    expect((await patch({ full_name: 'Ana' })).body.contact.contact_summary_updated_at).toBeNull()
    const first = (await patch({ contact_summary: 'One' })).body.contact.contact_summary_updated_at
    expect(first).not.toBeNull()
    expect((await patch({ full_name: 'Ana Souza' })).body.contact.contact_summary_updated_at).toBe(first)
    const second = (await patch({ contact_summary: 'Two' })).body.contact.contact_summary_updated_at
    expect(Date.parse(second)).toBeGreaterThan(Date.parse(first))
  })

  it("cannot change fields that are not the organization's to change", async () => {
    const before = await read()
    const fields = { id: other.id, chat_id: '5511900000000', phone_number: '+5511900000000', organization_id: other.id }
    const more = { source: null, last_seq: 5, has_unread_messages: true, active_status: true, created_at: '2020-01-01' }
    const answer = await patch({ ...fields, ...more })
    expect(answer.status).toBe(200)
    expect(await read()).toEqual(before)
  })

  it('keeps all of several concurrent changes', async () => {
    const changes = [{ full_name: 'Ana' }, { email: 'a@b' }, { tags: ['x'] }, { archived: true }, { blocked: true }]
    await Promise.all(changes.map((change) => patch(change)))
    expect(await read()).toMatchObject(Object.assign({}, ...changes))
    expect(await eventTypes()).toHaveLength(1 + changes.length)
  })

  it('finds the contact by every form of its number', async () => {
    for (const query of [`phone_number=%2B${number}`, `phone_number=0${number.slice(2)}`, `chat_id=${number}`]) {
      expect((await patch({ archived: true }, query)).body.contact.id).toBe(id)
    }
  })

  it.each([
    [{ full_name: 5 }, 'full_name'],
    [{ full_name: ['Ana'] }, 'full_name'],
    [{ full_name: 'x'.repeat(256) }, 'full_name'],
    [{ email: 'nobody' }, 'email'],
    [{ tags: 'vip' }, 'tags'],
    [{ tags: [null] }, 'tags[0]'],
    [{ allow_broadcast: 'false' }, 'allow_broadcast'],
    [{ archived: 0 }, 'archived'],
    [{ blocked: {} }, 'blocked'],
    [{ bot_status: 'stopped' }, 'bot_status'],
    [{ bot_status: true }, 'bot_status'],
    [{ contact_summary: 5 }, 'contact_summary'],
    [{ contact_summary: 'x'.repeat(10_001) }, 'contact_summary'],
    [{ contact_summary: '\u0000' }, 'contact_summary'],
  ])('returns 400 Invalid field with its name, and changes nothing: %j', async (changes, name) => {
    const before = await read()
    const answer = await patch({ ...changes, ...(name === 'archived' ? {} : { archived: true }) })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid field' })
    expect(answer.body.message).toContain(name)
    expect(await read()).toEqual(before)
  })

  it('returns 400 without a number, for an invalid one, and for two that differ', async () => {
    const unknown = '5511977777777'
    expect((await patch({}, '')).body.error).toBe('Missing required parameter')
    expect((await patch({}, 'chat_id=12')).body.error).toBe('Invalid parameter')
    expect((await patch({}, `chat_id=${number}&phone_number=${unknown}`)).body.error).toBe('Invalid parameter')
  })

  it("returns 404 for an unknown number, and for another organization's contact, which stays unchanged", async () => {
    const before = await read()
    for (const answer of [
      await patch({ full_name: 'X' }, 'chat_id=5511977777777'),
      await patch({ full_name: 'X' }, `chat_id=${number}`, other.key),
    ]) {
      expect(answer.status).toBe(404)
      expect(answer.body.error).toBe('Contact not found')
    }
    expect(await read()).toEqual(before)
  })
})
