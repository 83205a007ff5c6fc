import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createCallbackReceiver } from '../../../src/core/callbacks/receive/receiver.js'
import { hmacSha256Hex } from '../../../src/lib/crypto/signature.js'
import { MEBIBYTE } from '../../../src/lib/text/units.js'
import { changeFor, envelope, postBody, textMessage } from '../../support/callbacks.js'
import { useOrganization, useWorld } from '../../support/world.js'

const NO_SIGNATURE = `sha256=${'0'.repeat(64)}`

const world = useWorld()
const organization = useOrganization(world)

function genuine(messages = 1): string {
  const texts = Array.from({ length: messages }, (_, index) => textMessage('16505550001', `update ${index}`))
  return JSON.stringify(envelope(organization.businessAccountId, changeFor(organization, { messages: texts })))
}

/** A body with this many ids, none of which an organization has claimed. */
function junk(ids: number): string {
  return `{"entry":[${Array.from({ length: ids }, (_, index) => `{"id":"${index}","changes":[{}]}`).join()}]}`
}

/** Announces a body of 4 MB, sends 1 MB of it, and stops. `answer`: the first response of the service. */
function stall(): { socket: Socket; answer: Promise<string> } {
  const { hostname, port } = new URL(world.app.url)
  const head = `POST /hooks/upstream HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: ${NO_SIGNATURE}\r\n`
  const socket = connect(Number(port), hostname)
  socket.write(`${head}Content-Length: ${4 * MEBIBYTE}\r\n\r\n`)
  socket.write(Buffer.alloc(MEBIBYTE, ' '))
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString()))
    socket.once('error', () => resolve(''))
  })
  return { socket, answer }
}

describe('POST /hooks/upstream stores genuine callbacks', () => {
  it('while other bodies stall, the oldest of which are dropped', async () => {
    const stalled = Array.from({ length: 40 }, stall)
    const first = await Promise.race(stalled.map(({ answer }) => answer))
    expect(first).toContain('HTTP/1.1 503')
    expect(first.toLowerCase()).toContain('retry-after: 2')
    for (const body of [genuine(), genuine(1_000)]) {
      expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    }
    for (const { socket } of stalled) socket.destroy()
  })

  it('while bodies with unclaimed ids arrive', async () => {
    const bodies = Array.from({ length: 20 }, () => junk(30_000))
    const refused = bodies.map((body) => postBody(world, body, 'a secret'))
    const stored = Array.from({ length: 20 }, () => postBody(world, genuine(), organization.appSecret))
    for (const { status } of await Promise.all(stored)) expect(status).toBe(200)
    for (const { status } of await Promise.all(refused)) expect(status).toBe(401)
  })
})

describe('a body whose signature is not verified yet', () => {
  const from = { network: '192.0.2.1', isGone: () => false }

  /** A receiver, and how many ids each of its queries looked up. */
  function watchQueries() {
    const lookedUp: number[] = []
    const { database } = world.app.ctx
    const run: typeof database.run = (statement, values) => {
      if (Array.isArray(values[0])) lookedUp.push(values[0].length)
      return database.run(statement, values)
    }
    return { lookedUp, receiver: createCallbackReceiver({ ...world.app.ctx, database: { ...database, run } }) }
  }

  it.each([2_000, 140_000])('costs one query for 100 ids if it has %d', async (ids) => {
    const { lookedUp, receiver } = watchQueries()
    const receipt = await receiver.receive(Buffer.from(junk(ids)), '0'.repeat(64), from, null)
    expect({ receipt, lookedUp }).toEqual({ receipt: 'wrong_signature', lookedUp: [100] })
  })

  it('costs nothing if it is large and its sender has hung up', async () => {
    const { lookedUp, receiver } = watchQueries()
    const signed = Buffer.from(junk(140_000))
    await receiver.receive(signed, hmacSha256Hex(organization.appSecret, signed), { ...from, isGone: () => true }, null)
    expect(lookedUp).toEqual([])
  })

  it('shares queries with bodies that arrive at the same moment', async () => {
    const { lookedUp, receiver } = watchQueries()
    const bodies = Array.from({ length: 50 }, (_, index) => Buffer.from(junk(index % 2 === 0 ? 3 : 30)))
    await Promise.all(bodies.map((body) => receiver.receive(body, '0'.repeat(64), from, null)))
    expect(lookedUp).toEqual([75, 300, 300, 150])
  })

  it('is refused before it is parsed if it is large', async () => {
    const { receiver } = watchQueries()
    const notJson = Buffer.from(`{"entry":${'['.repeat(100_000)}`)
    expect(await receiver.receive(notJson, '0'.repeat(64), from, null)).toBe('wrong_signature')
    const signed = Buffer.concat([Buffer.from(genuine()), notJson])
    expect(await receiver.receive(signed, hmacSha256Hex(organization.appSecret, signed), from, null)).toBe('not_json')
  })

  it.each([0, 90_000])(
    'reaches all organizations of its app once verified, beyond 100 ids, with %d spaces added',
    async (spaces) => {
      const other = await world.createOrganization()
      const settings = {
        phone_number_id: other.phoneNumberId,
        business_account_id: other.businessAccountId,
        app_secret: organization.appSecret,
        access_token: 'token',
        verify_token: 'verify',
      }
      expect((await world.admin('PUT', `/organizations/${other.id}/upstream`, settings)).status).toBe(200)
      const unknown = Array.from({ length: 99 }, (_, index) => changeFor({ ...other, phoneNumberId: `99${index}` }, {}))
      const changes = [changeFor(organization, {}), ...unknown, changeFor(other, {})]
      const body = `${JSON.stringify(envelope('none', ...changes))}${' '.repeat(spaces)}`
      expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
      const { rows } = await world.database.pool.query('SELECT FROM callbacks WHERE organization_id = $1', [other.id])
      expect(rows).toHaveLength(1)
    },
  )
})

describe('the response to a wrong signature', () => {
  it('is the same whether an organization claims the number or none does', async () => {
    const unclaimed = genuine().replaceAll(organization.phoneNumberId, '999000111')
    const answers = [
      await postBody(world, genuine(), 'another secret'),
      await postBody(world, unclaimed, 'another secret'),
      await postBody(world, unclaimed, organization.appSecret),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(answers[1]?.body).toEqual(answers[0]?.body)
    expect(answers[2]?.body).toEqual(answers[0]?.body)
  })

  it('is sent before the body is read if the signature is malformed', async () => {
    for (const signature of ['x', `sha256=${'0'.repeat(63)}`, `sha256=${'g'.repeat(64)}`]) {
      const headers = { 'x-hub-signature-256': signature }
      const answer = await world.request('POST', '/hooks/upstream', { body: ' '.repeat(5 * MEBIBYTE), headers })
      expect(answer).toMatchObject({ status: 401, body: { error: 'Invalid signature' } })
    }
  })
})
