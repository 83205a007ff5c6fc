import { beforeAll, expect, it } from 'vitest'
import { readPosition } from '../../../src/core/webhooks/positions.js'
import { tickTransactionClock } from '../../../src/storage/events/transaction-clock.js'
import { createContact } from '../../support/contacts.js'
import { raise } from '../../support/webhook-endpoints.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let contact: string

beforeAll(async () => {
  contact = await createContact(world, organization, '+16505557800')
})

const read = (after: string) => world.request('GET', `/events?after=${after}`, { key: organization.key })
const latest = async (): Promise<string> => (await read('latest')).body.next_after
const namesIn = (events: { data: { contact: { full_name: string } } }[]) =>
  events.map(({ data }) => data.contact.full_name)

/** As if a standby had taken over, or the server had been restored to this moment: what follows is another history. */
const moveToOtherServer = () => world.database.pool.query(`UPDATE event_histories SET server = 'before/' || n`)

it('a position from before the clock was last set stays valid on another server', async () => {
  const position = await latest()
  await raise(world, contact, 1, 1)
  await tickTransactionClock(world.app.ctx.database)
  await moveToOtherServer()
  await raise(world, contact, 1, 2)
  const page = await read(position)
  expect(namesIn(page.body.events)).toEqual(['1', '2'])
  expect(readPosition(page.body.next_after).history).not.toBe(readPosition(position).history)
})

it('a later position of the former server is refused, and the message names one that misses nothing', async () => {
  await tickTransactionClock(world.app.ctx.database)
  await raise(world, contact, 1, 3)
  const position = await latest()
  await moveToOtherServer()
  await raise(world, contact, 1, 4)
  const refused = await read(position)
  expect(refused).toMatchObject({ status: 400, body: { error: 'Invalid parameter' } })
  const [, named] = /continue with ([\w-]+),/.exec(refused.body.message) ?? []
  const page = await read(String(named))
  expect(namesIn(page.body.events)).toEqual(['3', '4'])
  expect(namesIn((await read(page.body.next_after)).body.events)).toEqual([])
})

it('after two such changes, the earlier of the two moments counts', async () => {
  await tickTransactionClock(world.app.ctx.database)
  await raise(world, contact, 1, 5)
  const position = await latest()
  await moveToOtherServer()
  await latest()
  await raise(world, contact, 1, 6)
  await tickTransactionClock(world.app.ctx.database)
  await moveToOtherServer()
  const refused = await read(position)
  const [, named] = /continue with ([\w-]+),/.exec(refused.body.message) ?? []
  expect(namesIn((await read(String(named))).body.events)).toEqual(['5', '6'])
})

it('a position of a history that this database does not know is refused', async () => {
  const text = Buffer.from(await latest(), 'base64url').toString()
  const foreign = Buffer.from(text.replace(/[0-9a-f]{12}$/, '0123456789ab')).toString('base64url')
  expect(await read(foreign)).toMatchObject({ status: 400 })
  expect((await read(foreign)).body.message).toContain('another database')
})
