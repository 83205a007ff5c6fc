import fc from 'fast-check'
import { expect, it } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import { insertCallbacks } from '../../../../src/storage/callbacks/callbacks.js'
import { changeFor, envelope, seconds, type WireMessage } from '../../../support/callbacks.js'
import { TIMES } from '../../../support/times.js'
import { useOrganization, useWorld } from '../../../support/world.js'

/** The number of histories, and how many are played concurrently. */
const RUNS = Number(process.env.PARLEY_TEST_IDENTITY_RUNS ?? 80 * TIMES)
const AT_ONCE = 8

const world = useWorld()
const organization = useOrganization(world)

/** The addresses in a person's messages: the number, the number and the user id, the user id, or a mix. */
type Kind = 'number' | 'both' | 'id' | 'mixed'

interface Choice {
  actor: number
  act: 'say' | 'move' | 'status'
  shows: number
  target: number
  isAnnounced: boolean
  withIds: boolean
  style: number
}

interface Plan {
  kinds: Kind[]
  choices: Choice[]
  /** True if callbacks arrive in the order in which they happened. */
  inOrder: boolean
  order: number[]
  doubled: boolean[]
}

const plan: fc.Arbitrary<Plan> = fc.record({
  kinds: fc.array(fc.constantFrom<Kind>('number', 'both', 'id', 'mixed'), { minLength: 1, maxLength: 4 }),
  choices: fc.array(
    fc.record({
      actor: fc.nat(3),
      act: fc.constantFrom('say' as const, 'say' as const, 'say' as const, 'move' as const, 'status' as const),
      shows: fc.nat(5),
      target: fc.nat(4),
      isAnnounced: fc.boolean(),
      withIds: fc.boolean(),
      style: fc.nat(2),
    }),
    { minLength: 2, maxLength: 16 },
  ),
  inOrder: fc.boolean(),
  order: fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 }),
  doubled: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
})

/** A sender, at one moment of the history. */
interface Person {
  index: number
  kind: Kind
  number: number
  id: number
  /** True if the number alone identifies the sender, given the callbacks before. */
  mayHide: boolean
  /** True if the user id was seen together with the number. */
  isShown: boolean
  hasMoved: boolean
}

/** A callback: the value of its change, and the facts behind it. */
interface Told {
  value: object
  field: string
  upstreamId: string | null
  person: number
  /** The user id in it. */
  id: number | null
}

interface History {
  told: Told[]
  /** Persons whose messages must all be in one conversation. */
  whole: Set<number>
  /** The person of each user id. */
  people: Map<string, number>
}

let made = 0

/** Executes a plan. Histories that the callbacks leave ambiguous do not occur. */
function play({ kinds, choices, inOrder }: Plan): History {
  const run = ++made
  const numberOf = (number: number) => `1650${String(run * 10 + number).padStart(7, '0')}`
  const idOf = (id: number) => `US.7${run}x${id}`
  const parentOf = ({ index }: Person) => `US.ENT.7${run}x${index}`
  const people = new Map<string, number>()
  const shared = inOrder ? new Set<number>() : findShared(kinds, choices)
  const owners = new Map<number, Person>()
  const formerly = new Map<number, Set<number>>()
  const told: Told[] = []
  const whole = new Set(kinds.flatMap((kind, index) => (kind === 'number' || kind === 'both' ? [index] : [])))
  let [time, ids] = [0, 0]
  const persons = kinds.map((kind, index): Person => {
    const person = { index, kind, number: index, id: ++ids, mayHide: true, isShown: false, hasMoved: false }
    owners.set(index, person)
    formerly.set(index, new Set([index]))
    people.set(idOf(person.id), index)
    return person
  })
  const upstreamIdOf = () => `wamid.P${run}x${told.length}`
  const tell = (person: Person, message: WireMessage, id: number | null) => {
    const upstreamId = upstreamIdOf()
    const value = { messages: [{ id: upstreamId, timestamp: seconds(time), ...message }] }
    told.push({ value, field: 'messages', upstreamId, person: person.index, id })
  }
  const say = (person: Person, shows: number) => {
    const isShared = shared.has(person.number)
    const mayHide = person.kind === 'number' || (person.kind === 'mixed' && person.mayHide && !isShared)
    const hides = mayHide && (person.kind === 'number' || shows % 3 === 0)
    const showsIdOnly = person.kind === 'id' || (person.kind !== 'number' && shows % 3 === 1 && person.isShown)
    const text = { type: 'text', text: { body: `${person.index}` } }
    if (hides) return tell(person, { from: numberOf(person.number), ...text }, null)
    const named = { from_user_id: idOf(person.id), from_parent_user_id: parentOf(person), ...text }
    if (showsIdOnly) return tell(person, named, person.id)
    person.isShown = true
    person.mayHide = true
    tell(person, { from: numberOf(person.number), ...named }, person.id)
  }
  const move = (person: Person, { target, isAnnounced, withIds, style }: Choice) => {
    const [from, to] = [person.number, target]
    if (owners.has(to) || person.kind === 'id') return
    const isNew = !formerly.get(to)?.size
    const others = [...(formerly.get(to) ?? [])].filter((index) => index !== person.index)
    const touches = shared.has(from) || shared.has(to)
    if (person.kind === 'number' && touches) return
    if (others.length > 0 && !inOrder && [...others].some((index) => kinds[index] === 'number')) return
    // Numbers alone do not reveal the order of several changes that arrive out of order.
    if (person.hasMoved && !inOrder) whole.delete(person.index)
    person.hasMoved = true
    owners.delete(from)
    owners.set(to, person)
    formerly.set(to, new Set([...(formerly.get(to) ?? []), person.index]))
    const announces = isAnnounced || person.kind === 'number' || !person.isShown
    if (others.length > 0 || formerly.get(from)?.size !== 1) {
      whole.delete(person.index)
      for (const index of others) whole.delete(index)
    }
    person.number = to
    person.isShown = false
    person.mayHide = isNew || announces
    if (!announces) {
      whole.delete(person.index)
      person.mayHide = false
      return
    }
    const old = person.id
    const hasIds = person.kind !== 'number' && (withIds || touches)
    if (hasIds) {
      person.id = ++ids
      people.set(idOf(person.id), person.index)
    }
    const body = `User ${person.index} changed from ${numberOf(from)} to ${numberOf(to)}`
    const idsTold = hasIds ? { previous_user_id: idOf(old), user_id: idOf(person.id) } : {}
    const system = { type: 'user_changed_number', body, ...idsTold }
    const shapes = [
      { from: numberOf(from), system: { ...system, wa_id: numberOf(to) } },
      { from: numberOf(from), system: { ...system, new_wa_id: numberOf(to) } },
      { from: numberOf(to), system: { ...system, wa_id: numberOf(to), customer: numberOf(from) } },
    ]
    tell(person, { type: 'system', ...shapes[style] }, hasIds ? person.id : null)
    // From here on both user ids belong to one person.
    if (hasIds) links.push([old, person.id])
  }
  const links: [number, number][] = []
  for (const choice of choices) {
    time += 2
    const person = persons[choice.actor % persons.length] as Person
    if (choice.act === 'say') say(person, choice.shows)
    else if (choice.act === 'move') move(person, choice)
    else {
      const status = { id: `wamid.S${run}x${time}`, status: 'read', timestamp: seconds(time) }
      const recipient = { recipient_id: numberOf(person.number), recipient_user_id: idOf(person.id) }
      told.push({
        value: { statuses: [{ ...status, ...recipient }] },
        field: 'messages',
        upstreamId: null,
        person: person.index,
        id: null,
      })
    }
  }
  for (const one of told) one.id = one.id === null ? null : rootOf(links, one.id)
  return { told, whole, people }
}

/** The first user id of a chain of changes. */
function rootOf(links: readonly [number, number][], id: number): number {
  const before = links.find(([, next]) => next === id)
  return before ? rootOf(links, before[0]) : id
}

/** The numbers that belong to more than one person over time. */
function findShared(kinds: Kind[], choices: Choice[]): Set<number> {
  const owners = new Map(kinds.map((_, index) => [index, index]))
  const formerly = new Map(kinds.map((_, index) => [index, new Set([index])]))
  for (const { act, actor, target } of choices) {
    const index = actor % kinds.length
    if (act !== 'move' || [...owners.values()].length === 0 || kinds[index] === 'id') continue
    const from = [...owners].find(([, owner]) => owner === index)?.[0]
    if (from === undefined) continue
    formerly.set(target, new Set([...(formerly.get(target) ?? []), index]))
    if (!owners.has(target)) {
      owners.delete(from)
      owners.set(target, index)
    }
  }
  return new Set([...formerly].filter(([, persons]) => persons.size > 1).map(([number]) => number))
}

/** The callbacks in their order of arrival: some twice, and shuffled unless they arrive in order. */
function deliver({ told }: History, { inOrder, order, doubled }: Plan): Told[] {
  const all = told.flatMap((one, n) => (doubled[n] ? [one, one] : [one]))
  if (inOrder) return all
  return all
    .map((one, n) => ({ one, key: order[n % order.length] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ one }) => one)
}

/** Stores the callbacks of several histories in turns, and works them off together or as they arrive. */
async function receiveAll(histories: Told[][], isTogether: boolean): Promise<void> {
  const longest = Math.max(...histories.map((arrived) => arrived.length))
  for (let n = 0; n < longest; n++) {
    const stored = histories.flatMap((arrived) => {
      const told = arrived[n]
      if (told === undefined) return []
      const change = { ...changeFor(organization, told.value), field: told.field }
      const body = Buffer.from(JSON.stringify(envelope(organization.businessAccountId, change)))
      return [{ organizationId: organization.id, id: newId(), instanceId: null, traceparent: null, body }]
    })
    await insertCallbacks(world.database, stored)
    if (!isTogether) await world.app.callbacks.drain()
  }
  await world.app.callbacks.drain()
}

/** The user id and the parent user id that a contact shows are those of the person whose messages it has. */
async function checkShownIds({ told, people }: History): Promise<void> {
  const { rows } = await world.database.pool.query<{
    upstream_id: string
    user_id: string | null
    parent: string | null
  }>(
    `SELECT m.upstream_id, c.user_id, c.parent_user_id AS parent
     FROM messages m JOIN contacts c ON c.organization_id = m.organization_id AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND m.upstream_id = ANY ($2)`,
    [organization.id, told.map((one) => one.upstreamId)],
  )
  for (const { upstream_id, user_id, parent } of rows) {
    const person = told.find(({ upstreamId }) => upstreamId === upstream_id)?.person
    if (user_id !== null) expect(people.get(user_id), 'the person of the shown user id').toBe(person)
    if (parent !== null) expect(Number(parent.split('x').at(-1)), 'the person of the parent id').toBe(person)
  }
}

async function conversationsOf({ told }: History): Promise<Map<string, string>> {
  const { rows } = await world.database.pool.query<{ upstream_id: string; contact_id: string }>(
    'SELECT upstream_id, contact_id FROM messages WHERE organization_id = $1 AND upstream_id = ANY ($2)',
    [organization.id, told.map((one) => one.upstreamId)],
  )
  return new Map(rows.map((row) => [row.upstream_id, row.contact_id]))
}

function check({ told, whole }: History, conversations: Map<string, string>): void {
  const messages = told.filter((one) => one.upstreamId !== null)
  expect(conversations.size).toBe(messages.length)
  const contactOf = ({ upstreamId }: Told) => conversations.get(upstreamId ?? '')
  const gather = <Key>(of: Told[], key: (one: Told) => Key, value: (one: Told) => unknown) => {
    const found = new Map<Key, Set<unknown>>()
    for (const one of of) found.set(key(one), (found.get(key(one)) ?? new Set()).add(value(one)))
    return [...found.values()].filter((values) => values.size > 1)
  }
  expect(
    gather(messages, contactOf, (one) => one.person),
    'persons in one conversation',
  ).toEqual([])
  const named = messages.filter((one) => one.id !== null)
  expect(
    gather(named, (one) => one.id, contactOf),
    'conversations of one user id',
  ).toEqual([])
  const linked = messages.filter((one) => whole.has(one.person))
  expect(
    gather(linked, (one) => one.person, contactOf),
    'conversations of one person',
  ).toEqual([])
}

it(
  'no message is stored with another person if numbers change hands and reports arrive in any order',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { minLength: AT_ONCE, maxLength: AT_ONCE }),
        fc.boolean(),
        async (plans, isTogether) => {
          const histories = plans.map((one) => ({ one, history: play(one) }))
          await receiveAll(
            histories.map(({ one, history }) => deliver(history, one)),
            isTogether,
          )
          for (const { history } of histories) {
            check(history, await conversationsOf(history))
            await checkShownIds(history)
          }
        },
      ),
      {
        endOnFailure: true,
        numRuns: Math.ceil(RUNS / AT_ONCE),
        seed: Number(process.env.PARLEY_TEST_IDENTITY_SEED ?? 18),
      },
    )
  },
  Math.max(60_000, RUNS * 200),
)
