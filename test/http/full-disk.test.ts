import { writeFile } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { storeFailure } from '../../src/core/media/store-failure.js'
import { sendProblem, statusOf, toProblem } from '../../src/http/answers/problems.js'
import { changeFor, envelope, postBody, textMessage } from '../support/callbacks.js'
import { createContact } from '../support/contacts.js'
import { createInstance } from '../support/instances.js'
import { type Answer, useOrganization, useWorld } from '../support/world.js'

const PHONE_NUMBER = '+5511987650001'

const world = useWorld()
const organization = useOrganization(world)
let token: string
let people = 1_000

beforeAll(async () => {
  await createContact(world, organization, PHONE_NUMBER)
  token = (await createInstance(world, organization)).token
  // What PostgreSQL itself says when a table cannot grow.
  await world.database.pool.query(
    `CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full';
     END $$`,
  )
})

afterEach(async () => {
  for (const table of TABLES) await world.database.pool.query(`DROP TRIGGER IF EXISTS fill_disk ON ${table}`)
})

const TABLES = ['contacts', 'messages', 'callbacks']

/** From now on no table takes another row. */
async function fillDisk(): Promise<void> {
  for (const table of TABLES) {
    await world.database.pool.query(
      `CREATE TRIGGER fill_disk BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fill_disk()`,
    )
  }
}

const calls: Record<string, () => Promise<Answer>> = {
  'a send of Interface A': () =>
    world.request('POST', '/send-chat', {
      key: organization.key,
      body: { phone_number: PHONE_NUMBER, message_type: 'text', text: 'Hello' },
    }),
  'a new contact': () =>
    world.request('POST', '/contact', {
      key: organization.key,
      body: { phone_number: `+551198765${String(++people).padStart(4, '0')}` },
    }),
  'a callback': () => {
    const value = { messages: [textMessage('5511987650003', 'Hello')] }
    const body = JSON.stringify(envelope(organization.businessAccountId, changeFor(organization, value)))
    return postBody(world, body, organization.appSecret)
  },
  'a send of the gateway': () =>
    world.request('POST', '/gateway/message/sendText/shop', {
      headers: { apikey: token },
      body: { number: PHONE_NUMBER.slice(1), text: 'Hello' },
    }),
}

describe('a database whose disk is full', () => {
  it.each(Object.keys(calls))('makes %s answer 503 with Retry-After, until there is room', async (name) => {
    const call = calls[name] as () => Promise<Answer>
    expect((await call()).status).toBeLessThan(500)
    await fillDisk()
    const { status, headers, body } = await call()
    const text = expect.stringContaining('is full')
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('30')
    expect(body).toMatchObject(
      name.includes('gateway')
        ? { response: { message: [text], retry_after: 30 } }
        : { success: false, error: 'Service unavailable', message: text, retry_after: 30 },
    )
    const read = await world.request('GET', `/contact?chat_id=${PHONE_NUMBER.slice(1)}`, { key: organization.key })
    expect(read.status).toBe(200)
    for (const table of TABLES) await world.database.pool.query(`DROP TRIGGER fill_disk ON ${table}`)
    expect((await call()).status).toBeLessThan(500)
  })

  it('is counted as the fault of the disk', async () => {
    await fillDisk()
    await calls['a send of Interface A']?.()
    const { body } = await world.request('GET', '/metrics')
    expect(body).toMatch(/_count\{route="\/send-chat",method="POST",status="503",fault_of="disk"\} [1-9]/)
  })

  it('is named by /readyz, which stays ready, since reads work', async () => {
    await fillDisk()
    await calls['a send of Interface A']?.()
    await expect
      .poll(() => world.request('GET', '/readyz'))
      .toMatchObject({
        status: 200,
        body: { status: 'ready', problems: { disk: expect.stringContaining('a disk was full') } },
      })
  })
})

describe('a file for which there is no room', () => {
  const noLog = { warn: () => undefined, error: () => undefined }
  const newRequest = () =>
    ({ id: 'r', log: noLog, routeOptions: {}, headers: {}, faultOf: null }) as unknown as FastifyRequest
  const fail = (): Promise<Error> =>
    writeFile('/dev/full', 'Hello').then(
      () => new Error('/dev/full has taken a file'),
      (error: Error) => error,
    )

  it('is answered with 503 and Retry-After', async () => {
    const error = await fail()
    expect(error).toMatchObject({ code: 'ENOSPC' })
    const request = newRequest()
    const problem = toProblem(error, request)
    expect([statusOf(problem), problem.extras]).toEqual([503, { retry_after: 30 }])
    expect(request.faultOf).toBe('disk')
  })

  it('is the fault of the disk too if the store of files has failed by it', async () => {
    const ctx = { log: noLog } as unknown as Parameters<typeof storeFailure>[0]
    const request = newRequest()
    const reply = { header: () => reply, code: () => reply, send: () => reply }
    const problem = storeFailure(ctx, await fail(), 'Files cannot be stored', {})
    sendProblem(problem, request, reply as unknown as FastifyReply)
    expect(request.faultOf).toBe('disk')
  })
})

describe('the room on the disk', () => {
  it('is a metric, by folder', async () => {
    const { body } = await world.request('GET', '/metrics')
    const of = (name: string) =>
      Number(new RegExp(`^parley_disk_${name}_bytes\\{folder="data"\\} (.+)$`, 'm').exec(body)?.[1])
    expect(of('free')).toBeGreaterThan(0)
    expect(of('size')).toBeGreaterThanOrEqual(of('free'))
  })
})
