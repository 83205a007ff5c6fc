import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import { createInstance } from '../support/instances.js'
import { useOrganization, useWorld } from '../support/world.js'

const GIVEN = 'trace-7f3a.B_2:9+c/d=e~f@g'
const lines: string[] = []

const world = useWorld({}, pino({ level: 'warn' }, { write: (line) => lines.push(line) }))
const organization = useOrganization(world)
let token: string

beforeAll(async () => {
  token = (await createInstance(world, organization)).token
})

const CALLS: [method: string, path: string, status: number, key?: () => string][] = [
  ['GET', '/healthz', 200],
  ['GET', '/contacts/export', 200, () => organization.key],
  ['GET', '/contact', 400, () => organization.key],
  ['GET', '/contact', 401],
  ['GET', '/nothing', 404],
  ['DELETE', '/healthz', 405],
  ['GET', '/gateway/', 200],
  ['GET', '/gateway/instance/connectionState/shop', 200, () => token],
  ['GET', '/gateway/instance/fetchInstances', 401],
  ['GET', '/gateway/nothing', 404],
  ['GET', '/admin/organizations', 200, () => world.adminToken],
  ['GET', '/admin/organizations', 401],
  ['POST', '/hooks/upstream', 401],
  ['GET', '/media/nothing', 404],
  ['GET', '/s/nothing', 404],
  ['GET', '/docs', 200],
  ['GET', '/console/api/session', 401],
  ['GET', '/%ff', 404],
  ['GET', '/gateway/%ff', 404],
]

describe('X-Request-Id', () => {
  it.each(CALLS)('is returned for %s %s (%i), as sent or newly generated', async (...call) => {
    const [method, path, status, key] = call
    const ask = (headers: Record<string, string>) =>
      world.request(method, path, { ...(key && { key: key() }), headers })
    const [first, second, named] = [await ask({}), await ask({}), await ask({ 'x-request-id': GIVEN })]
    expect([first.status, second.status, named.status]).toEqual([status, status, status])
    const ids = [first, second].map(({ headers }) => headers.get('x-request-id'))
    for (const id of ids) expect(id).toMatch(/^[\w-]{10,40}$/)
    expect(new Set(ids).size).toBe(2)
    expect(named.headers.get('x-request-id')).toBe(GIVEN)
  })

  it.each([
    ['129 characters', 'x'.repeat(129)],
    ['a space', 'one two'],
    ['a quote', '"one"'],
    ['an empty value', ''],
  ])('is not accepted with %s', async (_what, given) => {
    const { headers } = await world.request('GET', '/healthz', { headers: { 'x-request-id': given } })
    expect(headers.get('x-request-id')).toMatch(/^[\w-]{10,40}$/)
  })

  it('may have 128 characters', async () => {
    const given = 'x'.repeat(128)
    const { headers } = await world.request('GET', '/healthz', { headers: { 'x-request-id': given } })
    expect(headers.get('x-request-id')).toBe(given)
  })

  it('is part of the answer to invalid HTTP', async () => {
    const socket = connect(Number(new URL(world.app.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.end('NONSENSE\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*\r\nX-Request-Id: [\w-]{10,40}\r\n/s)
  })

  it('is the same in the body and the log after an unexpected error', async () => {
    await world.database.pool.query('ALTER TABLE contacts RENAME TO elsewhere')
    try {
      const answer = await world.request('GET', '/contact?chat_id=5511900001234', {
        key: organization.key,
        headers: { 'x-request-id': GIVEN },
      })
      expect(answer).toMatchObject({ status: 500, body: { error: 'Internal server error', request_id: GIVEN } })
      expect(answer.headers.get('x-request-id')).toBe(GIVEN)
    } finally {
      await world.database.pool.query('ALTER TABLE elsewhere RENAME TO contacts')
    }
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ requestId: GIVEN, level: 50 }),
    )
  })
})
