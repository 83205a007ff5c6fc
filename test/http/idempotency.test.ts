import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { eventsOfContact } from '../support/rows/events.js'
import { useOrganization, useWorld } from '../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let number: string
let numbers = 0

beforeEach(() => {
  number = `551195${String(1_000 + ++numbers).padStart(7, '0')}`
})

const HOUR_MS = 3_600_000
const ORIGIN = '2026-01-01T00:00:00Z'

function post(idempotencyKey: string, body: unknown, { key } = organization, path = '/contact') {
  return world.request('POST', path, { key, body, headers: { 'idempotency-key': idempotencyKey } })
}

const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed')

describe('Idempotency-Key', () => {
  it('returns the first answer again, with the header, without a second effect', async () => {
    const body = { phone_number: number, full_name: 'Ana' }
    const first = await post(number, body)
    expect([first.status, replayed(first)]).toEqual([201, null])
    for (let again = 0; again < 3; again++) {
      const answer = await post(number, body)
      expect([answer.status, replayed(answer)]).toEqual([201, 'true'])
      expect(answer.body).toEqual(first.body)
    }
    expect(await eventsOfContact(world, first.body.contact.id)).toHaveLength(1)
  })

  it('returns the first answer unchanged, even if the contact has changed since', async () => {
    const body = { phone_number: number, full_name: 'Ana' }
    const first = await post(number, body)
    await world.request('PATCH', `/contact?chat_id=${number}`, { key: organization.key, body: { full_name: 'Eva' } })
    expect((await post(number, body)).body).toEqual(first.body)
  })

  it('compares bodies by meaning, ignoring the order of keys, white space and escapes', async () => {
    const first = await post(
      number,
      `{"phone_number":"${number}","full_name":"Ana","source":{"type":"x","created_at":"${ORIGIN}"}}`,
    )
    expect(first.status).toBe(201)
    const source = `{ "created_at" : "${ORIGIN}" , "type" : "x" }`
    const same = await post(
      number,
      `{\n  "source": ${source},\r\n\t"full_name": "\\u0041na", "phone_number": "${number}" }`,
    )
    expect([same.status, replayed(same)]).toEqual([201, 'true'])
    expect(same.body).toEqual(first.body)
  })

  it.each([{ full_name: 'Eva' }, {}, { full_name: 'Ana', tags: ['x'] }, { full_name: 'Ana', surplus: 1 }])(
    'answers 422 to another body: %j',
    async (fields) => {
      await post(number, { phone_number: number, full_name: 'Ana' })
      const answer = await post(number, { phone_number: number, ...fields })
      expect([answer.status, answer.body.error]).toEqual([422, 'Idempotency key reused'])
      expect(answer.body).toMatchObject({ success: false, message: expect.stringContaining(number) })
    },
  )

  it('applies per organization', async () => {
    const mine = await post(number, { phone_number: number })
    const theirs = await post(number, { phone_number: number, full_name: 'Another' }, other)
    expect([theirs.status, replayed(theirs)]).toEqual([201, null])
    expect(theirs.body.contact.id).not.toBe(mine.body.contact.id)
  })

  it('applies per path and ignores the query', async () => {
    await post(number, { phone_number: number })
    const sent = await post(
      number,
      { phone_number: number, message_type: 'text', text: 'Oi' },
      organization,
      '/send-chat',
    )
    expect([sent.status, replayed(sent)]).toEqual([200, null])
    const again = await post(number, { phone_number: number }, organization, `/contact?tenantId=${organization.slug}`)
    expect([again.status, replayed(again)]).toEqual([201, 'true'])
  })

  it('answers concurrent requests with the first answer, or says that it is in progress', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(number, { phone_number: number })))
    const first = answers.filter((answer) => answer.status === 201 && replayed(answer) === null)
    expect(first).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.body).toEqual(first[0]?.body)
      else expect([answer.status, answer.body.error]).toEqual([409, 'Request in progress'])
    }
    const late = await post(number, { phone_number: number })
    expect([late.status, replayed(late)]).toEqual([201, 'true'])
  })

  it('refuses a deeply nested body if the endpoint reads none', async () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const answer = await post(number, deep, organization, `/broadcasts/${randomUUID()}/pause`)
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid JSON'])
  })

  it('does not keep a refusal', async () => {
    const refused = await post(number, { phone_number: number, full_name: 5 })
    expect(refused.status).toBe(400)
    const made = await post(number, { phone_number: number })
    expect([made.status, replayed(made)]).toEqual([201, null])
    const exists = await post(`${number}-2`, { phone_number: number })
    expect(exists.body.error).toBe('Contact already exists')
    await world.request('DELETE', `/contact?chat_id=${number}`, { key: organization.key })
    const anew = await post(`${number}-2`, { phone_number: number })
    expect([anew.status, replayed(anew)]).toEqual([201, null])
  })

  it('is free again after 24 hours, not earlier', async () => {
    await post(number, { phone_number: number })
    world.advance(24 * HOUR_MS - 60_000)
    expect(replayed(await post(number, { phone_number: number }))).toBe('true')
    world.advance(2 * 60_000)
    const answer = await post(number, { phone_number: number, full_name: 'Another body' })
    expect(answer.body.error).toBe('Contact already exists')
  })

  it.each(['', 'x'.repeat(256), 'x'.repeat(10_000)])(
    'is refused with 400 if its length is wrong: %.10s',
    async (key) => {
      const answer = await post(key, { phone_number: number })
      expect([answer.status, answer.body.error]).toEqual([400, 'Invalid parameter'])
      expect(answer.body.message).toContain('Idempotency-Key')
      expect((await world.request('GET', `/contact?chat_id=${number}`, { key: organization.key })).status).toBe(404)
    },
  )

  it('may have 1 to 255 characters', async () => {
    expect((await post('x', { phone_number: number })).status).toBe(201)
    const body = { phone_number: `551194${number.slice(6)}` }
    const key = 'é'.repeat(255)
    expect((await post(key, body)).status).toBe(201)
    expect(replayed(await post(key, body))).toBe('true')
  })
})
