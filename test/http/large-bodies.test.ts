import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWorld, type TestOrganization, type World } from '../support/world.js'

const MEBIBYTE = 1_048_576

let world: World
let organization: TestOrganization

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
})

afterAll(() => world.close())

/** Posts a text as JSON. */
async function post(path: string, text: string, headers: Record<string, string> = {}, { key } = organization) {
  const response = await fetch(world.app.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: text,
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, string> }
}

const fill = (size: number, before: string, item: string, after: string) =>
  before + item.repeat(Math.floor((size - before.length - after.length) / item.length)) + after

describe.each([
  ['/contact', MEBIBYTE],
  ['/broadcasts', 4 * MEBIBYTE],
])('POST %s', (path, size) => {
  it.each([
    ['opening brackets', 400, fill(size, '', '[', '')],
    ['nested lists', 400, fill(size, '{"a":', '[', '')],
    ['nested objects', 400, fill(size, '', '{"a":', '')],
    ['empty lists', 400, fill(size, '{"phone_number":[', '[],', '1]}')],
    ['empty objects', 400, fill(size, '{"phone_number":[', '{},', '1]}')],
    ['escapes', path === '/contact' ? 400 : 413, fill(size, '{"name":"', '\\u0041', '"}')],
    ['escaped backslashes', path === '/contact' ? 400 : 413, fill(size, '{"name":"', '\\\\', '"}')],
    ['astral characters', 400, fill(size, '{"name":"', '😀', '"}').slice(0, size / 2)],
    ['zeros', 400, fill(size, '{"a":', '0', '}')],
    ['white space', 400, fill(size, '', ' ', '')],
  ])('answers %s with %i', async (_what, status, text) => {
    const answer = await post(path, text, { 'idempotency-key': 'one' })
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ success: false, error: expect.any(String), message: expect.any(String) })
  })
})

describe('long lists', () => {
  const broadcast = (audience: object) => JSON.stringify({ name: 'Sale', templateName: 'oferta', audience })
  const recipients = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ chatNumber: `+55119${60_000_000 + index}` }))

  it('are checked to the last item, and the error has the path of the wrong one', async () => {
    const wrong = [...recipients(2_345), { chatNumber: 7 }, ...recipients(300)]
    const named = await post('/broadcasts', broadcast({ recipients: wrong }))
    expect([named.status, named.body.message]).toEqual([400, 'audience.recipients[2345].chatNumber must be string'])
    const ids = Array.from({ length: 1_500 }, () => organization.id)
    const listed = await post('/broadcasts', broadcast({ recipients: recipients(4_000), contactIds: [...ids, 'x'] }))
    expect([listed.status, listed.body.message]).toEqual([400, 'audience.contactIds[1500] must be a valid uuid'])
  })

  it('are refused if they are too long, with the maximum and the number given', async () => {
    const tags = Array.from({ length: 1_001 }, (_, index) => `t${index}`)
    const { status, body } = await post('/broadcasts', broadcast({ tags }))
    expect([status, body.message]).toEqual([400, 'audience.tags must have at most 100 items, not 1001'])
  })

  it('are refused with a character that cannot be stored', async () => {
    const text = broadcast({ recipients: [...recipients(2_000), { chatNumber: 'x\u0000' }] })
    const { status, body } = await post('/broadcasts', text)
    expect(status).toBe(400)
    expect(body.message).toContain('audience.recipients[2000].chatNumber holds a character that cannot be stored')
  })

  it('count by meaning for an Idempotency-Key', async () => {
    const body = { destination: 'x', list: recipients(3_000), more: { a: 1, b: [null, 'é'] } }
    const turned = { more: { b: [null, 'é'], a: 1 }, list: recipients(3_000), destination: 'x' }
    const send = (extra: object, redirect_url = 'https://shop.example/') =>
      post('/shortlinks', JSON.stringify({ ...extra, redirect_url }), { 'idempotency-key': 'long' })
    const first = await send(body)
    expect(first.status).toBe(201)
    const again = await send(turned)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect((await send({ ...turned, list: recipients(2_999) })).status).toBe(422)
  })
})

it('bodies of more than 1 MB are handled one at a time for an organization, without delay for others', async () => {
  const other = await world.createOrganization()
  const large = `{"name":"large"${' '.repeat(MEBIBYTE)}}`
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const holding = world.app.ctx.limits.largeBodies.pass(organization.id, () => held)
  const refused = await post('/broadcasts', large)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  expect((await post('/broadcasts', '{"name":"small"}')).status).toBe(400)
  expect((await post('/broadcasts', large, {}, other)).status).toBe(400)
  finish()
  await holding
  expect((await post('/broadcasts', large)).status).toBe(400)
  expect((await post('/broadcasts', large)).status).toBe(400)
})

it('an object of too many fields, and too long a text with escapes, are refused with 413', async () => {
  const fields = Array.from({ length: 100_001 }, (_, index) => `"k${index}":1`)
  const wide = await post('/broadcasts', `{${fields.join(',')}}`)
  expect([wide.status, wide.body.message]).toEqual([413, 'The request body has an object of more than 100000 fields'])
  const long = await post('/broadcasts', `{"name":"\\n${'x'.repeat(MEBIBYTE)}"}`)
  expect([long.status, long.body.error]).toEqual([413, 'Payload too large'])
})
