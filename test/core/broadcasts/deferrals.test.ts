import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readTrace } from '../../../src/core/messages/trace/read-trace.js'
import { deferRecipient, takeDeferred, untilNextDeferred } from '../../../src/storage/broadcasts/deferrals.js'
import { WHOLE } from '../../../src/storage/broadcasts/sending.js'
import { type SeededBroadcast, seedBroadcast, seedRecipient } from '../../support/broadcast-rows.js'
import { createContact } from '../../support/contacts.js'
import { useOrganization, useWorld } from '../../support/world.js'

const RECIPIENTS = 6
const HOUR_MS = 3_600_000

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let people: string[]
let broadcast: SeededBroadcast
/** The recipients' messages, by number less one. */
let messageIds: string[]

beforeAll(async () => {
  const numbers = Array.from({ length: RECIPIENTS }, (_, index) => `+1650555900${index}`)
  people = await Promise.all(numbers.map((number) => createContact(world, organization, number)))
})

beforeEach(async () => {
  broadcast = await seedBroadcast(world, organization)
  messageIds = []
  for (const person of people) {
    const { messageId } = await seedRecipient(world, organization, broadcast, {
      contactId: person,
      acceptedAt: new Date(),
    })
    messageIds.push(messageId)
  }
  await query("UPDATE messages SET outcome = 'pending' WHERE id = ANY ($1)", [messageIds])
})

const CALLS = { k: 'calls', at: 0, calls: [] } as const
const TAKEN = { k: 'taken', at: 7, process: 1 } as const

const query = (text: string, values: unknown[]) => world.database.pool.query(text, values)

const defer = (n: number, inMs = 0, owner = organization) =>
  deferRecipient(world.database, owner.id, broadcast.id, {
    n,
    messageId: messageIds[n - 1] as string,
    instanceId: null,
    since: new Date(),
    attempts: 1,
    inMs,
    note: CALLS,
  })

const take = (early = false, owner = organization) =>
  takeDeferred(world.database, owner.id, broadcast.id, { note: TAKEN, lane: WHOLE, early })

const until = (owner = organization) => untilNextDeferred(world.database, owner.id, broadcast.id, WHOLE)

/** Takes messages until there are none; resolves to their numbers. */
async function takeAll(early = false): Promise<number[]> {
  const taken: number[] = []
  for (let next = await take(early); next !== null; next = await take(early)) taken.push(next.n)
  return taken
}

describe('a message that is put back', () => {
  it('is taken once, with its recipient, its first call and its attempts', async () => {
    const since = new Date('2026-01-02T03:04:05Z')
    const deferred = { n: 2, messageId: messageIds[1] as string, instanceId: null, since, attempts: 3, inMs: 0 }
    await deferRecipient(world.database, organization.id, broadcast.id, { ...deferred, note: CALLS })
    expect(await take()).toMatchObject({
      n: 2,
      since,
      attempts: 3,
      message_id: messageIds[1],
      contact_id: people[1],
      phone_number: '+16505559001',
      userId: null,
    })
    expect(await take()).toBeNull()
  })

  it('tells in its trace that it was put back and sent again, and that no answer is known', async () => {
    const id = messageIds[0] as string
    const asked = { k: 'asked', at: 0, by: 'broadcast', id: broadcast.id, process: 1 }
    await query('UPDATE messages SET notes = $2 WHERE id = $1', [id, JSON.stringify([asked])])
    const call = { at: 1, ms: 5, outcome: 'not_accepted', code: 130429 } as const
    const calls = { k: 'calls', at: 6, calls: [call], again: 2_000 } as const
    const deferred = { n: 1, messageId: id, instanceId: null, since: new Date(), attempts: 1, inMs: 0 }
    await deferRecipient(world.database, organization.id, broadcast.id, { ...deferred, note: calls })
    await take()
    const { entries } = await readTrace(world.app.ctx, organization.id, id)
    const told = entries.filter(({ kind }) => kind !== 'recorded')
    expect(told).toMatchObject([
      { kind: 'requested', by: { type: 'broadcast', id: broadcast.id } },
      { kind: 'called', outcome: 'not_accepted', error_code: 130429, duration_ms: 5 },
      { kind: 'put_back', retry_at: '1970-01-01T00:00:02.000Z' },
      { kind: 'resumed' },
      { kind: 'unanswered' },
    ])
  })

  it('stays as it is if it is put back again before it is taken', async () => {
    await defer(1, HOUR_MS)
    await defer(1)
    expect(await take()).toBeNull()
    expect((await take(true))?.n).toBe(1)
  })

  it('is not taken before it is due, unless that is asked for', async () => {
    await defer(1, HOUR_MS)
    expect(await takeAll()).toEqual([])
    expect(await takeAll(true)).toEqual([1])
  })

  it.each([
    ['has an outcome by now', 'UPDATE messages SET outcome = NULL WHERE id = $1'],
    ['was erased', 'DELETE FROM messages WHERE id = $1'],
  ])('is passed over and forgotten if it %s', async (_, change) => {
    await defer(1)
    await defer(2)
    await query(change, [messageIds[0]])
    expect(await takeAll()).toEqual([2])
    expect(await until()).toBeNull()
  })
})

describe('the messages of a broadcast that were put back', () => {
  it('are taken in the order of their numbers', async () => {
    for (const n of [5, 2, 6, 1, 3, 4]) await defer(n)
    expect(await takeAll()).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('are each taken by one of many calls at the same time', async () => {
    for (const n of [1, 2, 3, 4, 5, 6]) await defer(n)
    const taken = await Promise.all(Array.from({ length: 2 * RECIPIENTS }, () => take()))
    const numbers = taken.flatMap((one) => (one === null ? [] : [one.n]))
    expect(numbers).toEqual([...new Set(numbers)])
    expect([...numbers, ...(await takeAll())].sort()).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('say in how long the next one is due', async () => {
    expect(await until()).toBeNull()
    await defer(1, 2 * HOUR_MS)
    await defer(3, HOUR_MS)
    const nextMs = (await until()) as number
    expect([nextMs > 0, nextMs <= HOUR_MS]).toEqual([true, true])
    await defer(2)
    expect(await until()).toBe(0)
  })

  it('belong to the organization: another one neither adds, takes nor sees them', async () => {
    await defer(1)
    await defer(2, 0, other)
    expect([await take(true, other), await until(other)]).toEqual([null, null])
    expect(await takeAll()).toEqual([1])
  })

  it('are removed with the broadcast, and not added afterwards', async () => {
    await defer(1)
    await query('DELETE FROM messages WHERE broadcast_id = $1', [broadcast.id])
    await query('DELETE FROM broadcast_recipients WHERE broadcast_id = $1', [broadcast.id])
    await query('DELETE FROM broadcasts WHERE id = $1', [broadcast.id])
    await defer(2)
    const { rows } = await query('SELECT n FROM broadcast_deferrals WHERE broadcast_id = $1', [broadcast.id])
    expect(rows).toEqual([])
  })
})
