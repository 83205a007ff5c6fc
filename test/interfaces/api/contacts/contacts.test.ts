import { describe, expect, it } from 'vitest'
import { CONTACT_FIELDS } from '../../../support/contacts.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
const other = useOrganization(world)

let numbers = 0
/** An unused Brazilian mobile number. */
const newNumber = () => `551198${String(++numbers).padStart(7, '0')}`

function create(body: unknown, key = organization.key) {
  return request('POST', '/contact', { key, body })
}

function get(query: Record<string, string>, key = organization.key) {
  return request('GET', `/contact?${new URLSearchParams(query)}`, { key })
}

describe('GET /contact', () => {
  const full = { full_name: 'Ana Souza', email: 'ana@example.com', tags: ['vip', 'são paulo'], allow_broadcast: false }
  const source = { type: 'website', location: { city: 'Recife' }, created_at: '2025-01-01T00:00:00Z', extra: [1, null] }

  it('returns 200 with exactly the fields of a contact', async () => {
    const number = newNumber()
    const made = await create({ phone_number: number, ...full, source })
    const { status, body } = await get({ phone_number: number })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['success', 'contact'])
    expect(Object.keys(body.contact)).toEqual(CONTACT_FIELDS)
    expect(body).toEqual(made.body)
    expect(body.contact).toMatchObject({
      ...full,
      source,
      chat_id: number,
      phone_number: `+${number}`,
      organization_id: organization.id,
      bot_status: null,
      archived: false,
      blocked: false,
      active_status: false,
      has_unread_messages: false,
      contact_summary: null,
      contact_summary_updated_at: null,
    })
  })

  it('returns 200 by chat_id, by phone_number and by both', async () => {
    const number = newNumber()
    const { id } = (await create({ chat_id: number })).body.contact
    const queries: Record<string, string>[] = [
      { chat_id: number },
      { phone_number: `+${number}` },
      { phone_number: `+${number}`, chat_id: number },
      { phone_number: '', chat_id: number },
    ]
    for (const query of queries) {
      const answer = await get(query)
      expect([answer.status, answer.body.contact?.id]).toEqual([200, id])
    }
  })

  it('accepts an unencoded +', async () => {
    const number = newNumber()
    await create({ chat_id: number })
    expect((await request('GET', `/contact?phone_number=+${number}`, { key: organization.key })).status).toBe(200)
  })

  it.each(['', '?phone_number=', '?chat_id=&phone_number=', '?phonenumber=5511987654321'])(
    'returns 400 without a number: /contact%s',
    async (query) => {
      const answer = await request('GET', `/contact${query}`, { key: organization.key })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({
        success: false,
        error: 'Missing required parameter',
        message: 'phone_number (or chat_id) query parameter is required',
      })
    },
  )

  it.each(['abc', '12', '5511', '+55119', '1'.repeat(16), '0'.repeat(19), '+5511987654321 ext 5', '\u0000', '٣', '😀'])(
    'returns 400 for an invalid number: %s',
    async (number) => {
      for (const name of ['phone_number', 'chat_id']) {
        const answer = await get({ [name]: number })
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ success: false, error: 'Invalid parameter' })
        expect(answer.body.message).toContain(name)
      }
    },
  )

  it('returns 400 for a number that is too long, given twice, or of two contacts', async () => {
    const [one, two] = [newNumber(), newNumber()]
    await create({ chat_id: one })
    await create({ chat_id: two })
    for (const query of [
      `phone_number=${'1'.repeat(101)}`,
      `phone_number=${one}&phone_number=${one}`,
      `phone_number=${one}&chat_id=${two}`,
      `phone_number=${one}&chat_id=${newNumber()}`,
    ]) {
      const answer = await request('GET', `/contact?${query}`, { key: organization.key })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toBe('Invalid parameter')
      expect(answer.body.message).toContain('phone_number')
    }
  })

  it('returns 404 with the number', async () => {
    const number = newNumber()
    for (const [name, form] of [
      ['phone_number', `+${number}`],
      ['chat_id', number],
    ] as const) {
      const answer = await get({ [name]: form })
      expect(answer.status).toBe(404)
      expect(answer.body).toMatchObject({ success: false, error: 'Contact not found' })
      expect(answer.body.message).toContain(number)
    }
  })

  it("returns 404 for another organization's contact, as for an unknown one", async () => {
    const number = newNumber()
    await create({ chat_id: number }, other.key)
    const answer = await get({ chat_id: number })
    expect(answer.status).toBe(404)
    const unknown = newNumber()
    const nobody = await get({ chat_id: unknown })
    expect(answer.body).toEqual({ ...nobody.body, message: nobody.body.message.replace(unknown, number) })
  })
})

describe('POST /contact', () => {
  it('returns 201 with defaults and raises the event', async () => {
    const number = newNumber()
    const { status, body } = await create({ phone_number: `+${number}` })
    expect(status).toBe(201)
    expect(body.contact).toMatchObject({ full_name: null, email: null, tags: [], allow_broadcast: true, source: null })
    const events = await eventsOfContact(world, body.contact.id)
    expect(events.map(({ type }) => type)).toEqual(['contact.created'])
    expect(events[0]?.data.contact).toMatchObject({ id: body.contact.id, chat_id: number, allow_broadcast: true })
  })

  it('refuses a source that is too long', async () => {
    const source = { type: 'import', note: 'x'.repeat(10_000) }
    const { status, body } = await create({ phone_number: '+5511977770001', source })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'Invalid field', message: expect.stringContaining('source') })
  })

  it('returns 201 and ignores unknown and null fields', async () => {
    const number = newNumber()
    const given = { chat_id: number, phone_number: null, full_name: null, email: null, source: null }
    const surplus = { id: 'mine', organization_id: other.id, blocked: true, last_seq: 9, constructor: 1, toString: 2 }
    const { status, body } = await create({ ...given, ...surplus })
    expect(status).toBe(201)
    expect(body.contact).toMatchObject({ organization_id: organization.id, blocked: false, full_name: null })
    expect(body.contact.id).not.toBe('mine')
  })

  it('stores every tag once, and text unchanged', async () => {
    const full_name = 'Zé 🐝 O\'Neil "x" \\u0000 <b> שלום'
    const { body } = await create({ chat_id: newNumber(), full_name, tags: ['b', 'a', 'b', 'B'] })
    expect(body.contact).toMatchObject({ full_name, tags: ['b', 'a', 'B'] })
  })

  it('returns 409 with the id of the existing contact at the top level', async () => {
    const number = newNumber()
    const { id } = (await create({ chat_id: number })).body.contact
    for (const form of [number, `+${number}`, `0${number.slice(2)}`]) {
      const answer = await create({ phone_number: form, full_name: 'Another' })
      expect(answer.status).toBe(409)
      expect(answer.body).toMatchObject({ success: false, error: 'Contact already exists', id })
    }
    expect((await get({ chat_id: number })).body.contact.full_name).toBeNull()
  })

  it('creates one contact for 20 concurrent requests', async () => {
    const number = newNumber()
    const forms = [number, `+${number}`, `00${number}`, `0${number.slice(2)}`]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create({ phone_number: forms[index % forms.length] })),
    )
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(1)
    const id = made[0]?.body.contact.id
    const refused = answers.filter(({ status, body }) => status === 409 && body.id === id)
    expect(refused).toHaveLength(19)
    expect((await eventsOfContact(world, id)).map(({ type }) => type)).toEqual(['contact.created'])
  })

  it('creates separate contacts for each organization', async () => {
    const number = newNumber()
    const mine = await create({ chat_id: number })
    const theirs = await create({ chat_id: number }, other.key)
    expect([mine.status, theirs.status]).toEqual([201, 201])
    expect(theirs.body.contact).toMatchObject({ organization_id: other.id, chat_id: number })
    expect(theirs.body.contact.id).not.toBe(mine.body.contact.id)
  })

  it.each([[{}], [{ full_name: 'Ana' }], [{ phone_number: '' }], [{ phone_number: null, chat_id: '' }]])(
    'returns 400 Missing required field: %j',
    async (body) => {
      const answer = await create(body)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ success: false, error: 'Missing required field' })
      expect(answer.body.message).toContain('phone_number')
    },
  )

  it.each([
    [{ phone_number: 5511987654321 }, 'phone_number'],
    [{ phone_number: 'abc' }, 'phone_number'],
    [{ chat_id: '12' }, 'chat_id'],
    [{ phone_number: '1'.repeat(101) }, 'phone_number'],
    [{ phone_number: '+5511987654321', chat_id: '5511987654322' }, 'chat_id'],
    [{ full_name: 5 }, 'full_name'],
    [{ full_name: 'x'.repeat(256) }, 'full_name'],
    [{ full_name: 'a\u0000b' }, 'full_name'],
    [{ full_name: '\ud800' }, 'full_name'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 'a b@c' }, 'email'],
    [{ email: `${'x'.repeat(320)}@c` }, 'email'],
    [{ tags: 'vip' }, 'tags'],
    [{ tags: ['vip', 5] }, 'tags[1]'],
    [{ tags: [''] }, 'tags[0]'],
    [{ tags: ['x'.repeat(101)] }, 'tags[0]'],
    [{ tags: Array.from({ length: 101 }, String) }, 'tags'],
    [{ tags: ['a\u0000'] }, 'tags[0]'],
    [{ allow_broadcast: 'true' }, 'allow_broadcast'],
    [{ allow_broadcast: 1 }, 'allow_broadcast'],
    [{ source: 'website' }, 'source'],
    [{ source: ['website'] }, 'source'],
    [{ source: { type: 5 } }, 'source.type'],
    [{ source: { type: 'x', location: { city: '\udc00' } } }, 'source.location.city'],
    [{ source: { type: 'x', 'k\u0000': 1 } }, 'source'],
  ])('returns 400 Invalid field: %j', async (fields, name) => {
    const answer = await create({ chat_id: newNumber(), ...fields })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid field' })
    expect(answer.body.message).toContain(name)
  })

  it('counts code points, not UTF-16 units', async () => {
    const { status, body } = await create({ chat_id: newNumber(), full_name: '😀'.repeat(255) })
    expect([status, body.contact?.full_name]).toEqual([201, '😀'.repeat(255)])
  })
})
