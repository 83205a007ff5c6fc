import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createMessageWriter as createImpatientOutbox } from '../../../../src/core/messages/send/message-writer.js'
import { type Database, openDatabase } from '../../../../src/database/pool.js'
import { startCountdown } from '../../../../src/lib/async/timeout.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import type { Acceptance, OutgoingMessage, Recorded } from '../../../../src/model/messages/outgoing.js'
import { hideContact } from '../../../../src/storage/contacts/erasure.js'
import { receive, seconds, wamid } from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { besides } from '../../../support/database.js'
import { eventsOf } from '../../../support/rows/events.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

type MessageWriter = ReturnType<typeof createMessageWriter>

/** A message writer that waits for a locked row as long as a test lasts. */
function createMessageWriter(database: Database) {
  const { record, accept } = createImpatientOutbox(database)
  return { record: (message: OutgoingMessage) => record(message, startCountdown(30_000)), accept }
}

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let messageWriter: MessageWriter
let people = 0

beforeAll(async () => {
  messageWriter = createMessageWriter(world.database)
})

interface Person {
  digits: string
  id: string
}

async function newPerson(owner = organization): Promise<Person> {
  const digits = `1650556${String(++people).padStart(4, '0')}`
  return { digits, id: await createContact(world, owner, `+${digits}`) }
}

function newPeople(count: number): Promise<Person[]> {
  return Promise.all(Array.from({ length: count }, () => newPerson()))
}

function block({ digits }: Person, owner = organization) {
  return world.request('PATCH', `/contact?chat_id=${digits}`, { key: owner.key, body: { blocked: true } })
}

function messageTo(digits: string, fields: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    organizationId: organization.id,
    id: newId(),
    instanceId: null,
    usesJids: false,
    fitsGroups: true,
    addresses: [digits],
    sender_type: 'bot-chat',
    message_type: 'text',
    text: 'hello',
    media_type: null,
    content: null,
    mediaId: null,
    replyToId: null,
    isReaction: false,
    pairLimit: false,
    assignee_id: null,
    created_at: world.now(),
    contactEventId: newId(),
    isPromotional: false,
    recipient: null,
    asked: { k: 'asked', at: 0, by: 'api_key', id: newId(), process: 1 },
    traceparent: null,
    ...fields,
  }
}

function acceptanceOf({ organizationId, id }: OutgoingMessage, upstreamId: string | null): Acceptance {
  const at = world.now()
  const note = { k: 'calls', at: at.getTime(), calls: [] } as const
  return { organizationId, id, upstreamId, network: null, at, alias: null, userId: null, eventId: newId(), note }
}

interface Row {
  id: string
  seq: number | null
  upstream_id: string | null
  outcome: string | null
}

/** The messages of a contact, in order of their numbers. */
async function rowsOf(contactId: string): Promise<Row[]> {
  const { rows } = await world.database.pool.query<Row>(
    'SELECT id, seq, upstream_id, outcome FROM messages WHERE contact_id = $1 ORDER BY seq',
    [contactId],
  )
  return rows
}

async function typesOf(contactId: string, owner = organization): Promise<string[]> {
  const events = await eventsOf(world, owner)
  return events.filter((event) => event.contact_id === contactId).map((event) => event.type)
}

const numbersOf = (rows: Row[]) => rows.map(({ seq }) => seq)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const reasonOf = (recorded: Recorded) => (recorded.recorded ? 'recorded' : recorded.reason)

/** Runs `work` while another connection locks the contact's row; `work` receives the function that releases it. */
async function whileHeld({ id }: Person, work: (release: () => Promise<void>) => Promise<void>): Promise<void> {
  const holder = await world.database.pool.connect()
  let held = true
  const release = async () => {
    if (held) await holder.query('ROLLBACK')
    held = false
  }
  try {
    await holder.query('BEGIN')
    await holder.query('SELECT FROM contacts WHERE id = $1 FOR UPDATE', [id])
    await work(release)
  } finally {
    await release()
    holder.release()
  }
}

describe('recording many messages at once', () => {
  it('stores 150 messages to one contact once each, without a gap', async () => {
    const person = await newPerson()
    const messages = upTo(150).map(() => messageTo(person.digits))
    const recorded = await Promise.all(messages.map(messageWriter.record))
    expect(recorded.map(reasonOf)).toEqual(messages.map(() => 'recorded'))
    const rows = await rowsOf(person.id)
    expect(numbersOf(rows)).toEqual(upTo(150))
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(messages.map(({ id }) => id)))
  })

  it('shares the numbers between two writers, as in two processes', async () => {
    const person = await newPerson()
    const writers = [messageWriter, createMessageWriter(world.database)]
    await Promise.all(upTo(60).map((count) => writers[count % 2]?.record(messageTo(person.digits))))
    expect(numbersOf(await rowsOf(person.id))).toEqual(upTo(60))
  })

  it('works for many contacts of two organizations with the same phone numbers', async () => {
    const mine = await newPeople(30)
    const theirs = await Promise.all(mine.map(({ digits }) => createContact(world, other, `+${digits}`)))
    const wanted = mine.flatMap(({ digits }) => [
      messageTo(digits),
      messageTo(digits, { organizationId: other.id }),
      messageTo(digits),
    ])
    const recorded = await Promise.all(wanted.map(messageWriter.record))
    const found = recorded.map((one) => (one.recorded ? one.contactId : one.reason))
    expect(found).toEqual(mine.flatMap(({ id }, index) => [id, theirs[index], id]))
    for (const { id } of mine) expect(numbersOf(await rowsOf(id))).toEqual([1, 2])
    for (const id of theirs) expect(numbersOf(await rowsOf(id))).toEqual([1])
  })

  it('gives a refused message no number and leaves the others unaffected', async () => {
    const [blocked, known] = await Promise.all([newPerson(), newPerson()])
    await block(blocked)
    const nowhere = newId()
    const recorded = await Promise.all([
      messageWriter.record(messageTo(blocked.digits)),
      messageWriter.record(messageTo(known.digits, { replyToId: nowhere })),
      messageWriter.record(messageTo('16505569999')),
      messageWriter.record(messageTo(known.digits, { organizationId: other.id })),
      messageWriter.record(messageTo(known.digits)),
      messageWriter.record(messageTo(blocked.digits, { replyToId: nowhere })),
      messageWriter.record(messageTo(known.digits)),
    ])
    expect(recorded).toMatchObject([
      { reason: 'blocked', chatId: blocked.digits },
      { reason: 'not_found', chatId: known.digits },
      { reason: 'no_contact' },
      { reason: 'no_contact' },
      { recorded: true, contactId: known.id },
      { reason: 'blocked', chatId: blocked.digits },
      { recorded: true, contactId: known.id },
    ])
    expect(await rowsOf(blocked.id)).toEqual([])
    expect(numbersOf(await rowsOf(known.id))).toEqual([1, 2])
  })

  it('rejects only the message with a taken id', async () => {
    const everybody = await newPeople(5)
    const [first] = everybody as [Person]
    const taken = messageTo(first.digits)
    await messageWriter.record(taken)
    const settled = await Promise.allSettled(
      everybody.flatMap(({ digits }) => [
        messageWriter.record(messageTo(digits)),
        ...(digits === first.digits ? [messageWriter.record(messageTo(digits, { id: taken.id }))] : []),
      ]),
    )
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    expect(settled[1]).toMatchObject({ reason: { code: '23505' } })
    expect(numbersOf(await rowsOf(first.id))).toEqual([1, 2])
    for (const { id } of everybody.slice(1)) expect(numbersOf(await rowsOf(id))).toEqual([1])
  })

  it('records one of two messages with the same id', async () => {
    const person = await newPerson()
    const message = messageTo(person.digits)
    const settled = await Promise.allSettled([messageWriter.record(message), messageWriter.record({ ...message })])
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(numbersOf(await rowsOf(person.id))).toEqual([1])
  })
})

describe('recording for a contact with a locked row', () => {
  it('waits, and the other messages of the same moment do not', async () => {
    const [held, ...rest] = (await newPeople(8)) as [Person, ...Person[]]
    await whileHeld(held, async (release) => {
      const ended: string[] = []
      const record = async ({ digits }: Person) => {
        await messageWriter.record(messageTo(digits))
        ended.push(digits)
      }
      const waiting = [record(held), record(held)]
      await Promise.all(rest.map(record))
      await record(rest[0] as Person)
      expect(ended).toHaveLength(8)
      expect(ended).not.toContain(held.digits)
      await release()
      await Promise.all(waiting)
    })
    expect(numbersOf(await rowsOf(held.id))).toEqual([1, 2])
  })

  it('does not delay others, however many wait, and gives up in the end without a record', async () => {
    const held = await newPerson()
    const stranger = await newPerson(other)
    await whileHeld(held, async () => {
      const impatient = createImpatientOutbox(world.database)
      const waiting = Array.from({ length: 30 }, () => impatient.record(messageTo(held.digits), startCountdown(500)))
      const theirs = messageTo(stranger.digits, { organizationId: other.id })
      expect(await impatient.record(theirs, startCountdown(30_000))).toMatchObject({ recorded: true })
      for (const given of await Promise.allSettled(waiting)) {
        expect(given).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } })
      }
    })
    expect(await rowsOf(held.id)).toEqual([])
  })

  it('that is then erased reports that the contact is not found', async () => {
    const [erased, stays] = (await newPeople(2)) as [Person, Person]
    const { waiting } = await world.database.transaction(async (transaction) => {
      await hideContact(transaction, organization.id, erased.id)
      const waiting = besides(() => messageWriter.record(messageTo(erased.digits)))
      expect(await besides(() => messageWriter.record(messageTo(stays.digits)))).toMatchObject({ recorded: true })
      return { waiting }
    })
    expect(await waiting).toEqual({ recorded: false, reason: 'no_contact' })
    expect(await rowsOf(erased.id)).toEqual([])
  })
})

describe('accepting messages', () => {
  it('keeps the id of each, and raises message.sent once per message', async () => {
    const everybody = await newPeople(30)
    const messages = everybody.flatMap(({ digits }) => [messageTo(digits), messageTo(digits)])
    await Promise.all(messages.map(messageWriter.record))
    await Promise.all(messages.map((message) => messageWriter.accept(acceptanceOf(message, `wamid.${message.id}`))))
    for (const { id } of everybody) {
      const rows = await rowsOf(id)
      expect(rows).toMatchObject([{ outcome: null }, { outcome: null }])
      for (const row of rows) expect(row.upstream_id).toBe(`wamid.${row.id}`)
      expect(await typesOf(id)).toEqual(['contact.created', 'message.sent', 'message.sent'])
    }
  })

  it('refuses only the message with a taken upstream id', async () => {
    const people = (await newPeople(3)) as [Person, Person, Person]
    const messages = people.map(({ digits }) => messageTo(digits))
    await Promise.all(messages.map(messageWriter.record))
    const [first, second, third] = messages as [OutgoingMessage, OutgoingMessage, OutgoingMessage]
    const upstreamId = wamid()
    const settled = await Promise.allSettled([
      messageWriter.accept(acceptanceOf(first, upstreamId)),
      messageWriter.accept(acceptanceOf(second, upstreamId)),
      messageWriter.accept(acceptanceOf(third, wamid())),
    ])
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(settled[2]?.status).toBe('fulfilled')
    const loser = settled[0]?.status === 'rejected' ? people[0] : people[1]
    expect(await rowsOf(loser.id)).toMatchObject([{ upstream_id: null, outcome: 'pending' }])
    expect(await typesOf(loser.id)).not.toContain('message.sent')
  })

  it('counts once if it is repeated, and the first id stays', async () => {
    const person = await newPerson()
    const message = messageTo(person.digits)
    await messageWriter.record(message)
    const upstreamId = wamid()
    await Promise.all([
      messageWriter.accept(acceptanceOf(message, upstreamId)),
      messageWriter.accept(acceptanceOf(message, upstreamId)),
    ])
    await messageWriter.accept(acceptanceOf(message, wamid()))
    expect(await rowsOf(person.id)).toMatchObject([{ upstream_id: upstreamId, outcome: null }])
    expect(await typesOf(person.id)).toEqual(['contact.created', 'message.sent'])
  })

  it('changes nothing and raises nothing if a callback reported the message first', async () => {
    const person = await newPerson()
    const message = messageTo(person.digits)
    await messageWriter.record(message)
    const upstreamId = wamid()
    const status = { id: upstreamId, status: 'delivered', timestamp: seconds(), recipient_id: person.digits }
    await receive(world, organization, { statuses: [{ ...status, biz_opaque_callback_data: message.id }] })
    const before = await rowsOf(person.id)
    expect(before).toMatchObject([{ upstream_id: upstreamId, outcome: null }])
    await messageWriter.accept(acceptanceOf(message, upstreamId))
    expect(await rowsOf(person.id)).toEqual(before)
    expect(await typesOf(person.id)).toEqual(['contact.created', 'message.sent', 'message.delivered'])
  })

  it('returns nothing for a contact that was erased in the meantime', async () => {
    const [erased, stays] = (await newPeople(2)) as [Person, Person]
    const [gone, there] = [messageTo(erased.digits), messageTo(stays.digits)]
    await Promise.all([messageWriter.record(gone), messageWriter.record(there)])
    await world.request('DELETE', `/contact?chat_id=${erased.digits}`, { key: organization.key })
    await Promise.all([
      messageWriter.accept(acceptanceOf(gone, wamid())),
      messageWriter.accept(acceptanceOf(there, wamid())),
    ])
    expect(await rowsOf(erased.id)).toEqual([])
    expect(await typesOf(erased.id)).not.toContain('message.sent')
    expect(await rowsOf(stays.id)).toMatchObject([{ outcome: null }])
  })

  it('waits for a message with a locked row, without delaying the others', async () => {
    const [held, ...rest] = (await newPeople(4)) as [Person, ...Person[]]
    const messages = [held, ...rest].map(({ digits }) => messageTo(digits))
    await Promise.all(messages.map(messageWriter.record))
    const [first, ...others] = messages as [OutgoingMessage, ...OutgoingMessage[]]
    const ended: string[] = []
    const accept = async (message: OutgoingMessage) => {
      await messageWriter.accept(acceptanceOf(message, wamid()))
      ended.push(message.id)
    }
    const holder = await world.database.pool.connect()
    try {
      await holder.query('BEGIN')
      await holder.query('SELECT FROM messages WHERE id = $1 FOR UPDATE', [first.id])
      const waiting = accept(first)
      await Promise.all(others.map(accept))
      expect(ended).toHaveLength(3)
      expect(ended).not.toContain(first.id)
      await holder.query('ROLLBACK')
      await waiting
    } finally {
      holder.release(true)
    }
    expect(await rowsOf(held.id)).toMatchObject([{ outcome: null }])
  })
})

/** The requests of the property below, and its model of the people. */
interface Ask {
  owner: 'one' | 'other'
  who: 'ana' | 'bia' | 'blocked' | 'nobody'
  about: 'nothing' | 'first' | 'unknown'
  kind: 'message' | 'paced' | 'reaction' | 'repeated'
}

interface Known extends Person {
  firstId: string
  numbers: number
  pacedUntil: number
}

const ask: fc.Arbitrary<Ask> = fc.record({
  owner: fc.constantFrom('one', 'other'),
  who: fc.constantFrom('ana', 'ana', 'bia', 'bia', 'blocked', 'nobody'),
  about: fc.constantFrom('nothing', 'nothing', 'nothing', 'first', 'unknown'),
  kind: fc.constantFrom('message', 'message', 'paced', 'paced', 'paced', 'reaction', 'repeated'),
})
/** Batches, each with the seconds before it. */
const batches = fc.array(fc.tuple(fc.nat(300), fc.array(ask, { minLength: 1, maxLength: 60 })), { maxLength: 4 })

describe('random batches, through two processes', () => {
  it('match a simple model', async () => {
    const second = openDatabase(world.database.connection, 4, () => undefined)
    const writers = [messageWriter, createMessageWriter(second)]
    try {
      await fc.assert(
        fc.asyncProperty(batches, (steps) => checkAgainstModel(writers, steps)),
        { numRuns: 15 },
      )
    } finally {
      await second.close()
    }
  })
})

const PAIR_INTERVAL_MS = 6_000
const PAIR_BURST = 45

async function checkAgainstModel(writers: MessageWriter[], steps: [number, Ask[]][]): Promise<void> {
  const owners = { one: organization, other }
  const model = await startModel(owners)
  let at = world.now().getTime()
  for (const [secondsLater, asks] of steps) {
    at += secondsLater * 1_000
    const outcomes = await Promise.all(
      asks.map((one, index) => {
        const known = model.get(`${one.owner} ${one.who}`)
        const message = messageTo(known?.digits ?? '16505550000', {
          organizationId: owners[one.owner].id,
          ...(one.kind === 'repeated' && known ? { id: known.firstId } : {}),
          replyToId: one.about === 'nothing' ? null : one.about === 'first' ? (known?.firstId ?? newId()) : newId(),
          isReaction: one.kind === 'reaction',
          pairLimit: one.kind === 'paced',
          created_at: new Date(at),
        })
        const recording = (writers[index % writers.length] as MessageWriter).record(message)
        return recording.then(reasonOf, (error: { code: string }) => error.code)
      }),
    )
    for (const [person, known] of model) {
      const mine = asks.flatMap((one, index) =>
        `${one.owner} ${one.who}` === person ? [{ one, expected: expectedOf(one), outcome: outcomes[index] }] : [],
      )
      // Which of the rate-limited messages are accepted is random; their number is not.
      const [free, paced] = [mine.filter(({ expected }) => expected), mine.filter(({ expected }) => !expected)]
      expect(free.map(({ outcome }) => outcome)).toEqual(free.map(({ expected }) => expected))
      const passed = passing(known, at, paced.length)
      expect(paced.map(({ outcome }) => outcome).sort()).toEqual(
        paced.map((_, index) => (index < paced.length - passed ? 'paced' : 'recorded')),
      )
      known.numbers +=
        passed + free.filter(({ one, expected }) => one.kind === 'message' && expected === 'recorded').length
    }
    const nobodys = asks.flatMap(({ who }, index) => (who === 'nobody' ? [outcomes[index]] : []))
    expect(nobodys).toEqual(nobodys.map(() => 'no_contact'))
  }
  for (const { id, numbers } of model.values()) {
    expect(numbersOf(await rowsOf(id)).filter((seq) => seq !== null)).toEqual(upTo(numbers))
  }
}

/** Ana, Bia and a blocked contact, in both organizations, each with a first message. */
async function startModel(owners: Record<Ask['owner'], TestOrganization>): Promise<Map<string, Known>> {
  const model = new Map<string, Known>()
  for (const [name, owner] of Object.entries(owners)) {
    for (const who of ['ana', 'bia', 'blocked']) {
      const person = await newPerson(owner)
      const first = messageTo(person.digits, { organizationId: owner.id })
      await messageWriter.record(first)
      await messageWriter.accept(acceptanceOf(first, `wamid.${first.id}`))
      if (who === 'blocked') await block(person, owner)
      model.set(`${name} ${who}`, { ...person, firstId: first.id, numbers: 1, pacedUntil: 0 })
    }
  }
  return model
}

/** The outcome of a send to a contact; null if the rate limit decides. */
function expectedOf({ who, about, kind }: Ask): string | null {
  if (who === 'blocked') return 'blocked'
  if (about === 'unknown') return 'not_found'
  if (kind === 'repeated') return '23505'
  return kind === 'paced' ? null : 'recorded'
}

/** The number of accepted requests under the upstream's pair limit: a bucket of 45 that gains one every 6 seconds. */
function passing(known: Known, at: number, asked: number): number {
  let passed = 0
  while (passed < asked && known.pacedUntil <= at + (PAIR_BURST - 1) * PAIR_INTERVAL_MS) {
    known.pacedUntil = Math.max(known.pacedUntil, at) + PAIR_INTERVAL_MS
    passed++
  }
  return passed
}
