import fc from 'fast-check'
import { expect } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import { insertCallbacks } from '../../../../src/storage/callbacks/callbacks.js'
import { changeFor, envelope, seconds, type WireMessage } from '../../../support/callbacks.js'
import type { TestOrganization, World } from '../../../support/world.js'

// Random histories of people who write, move to other numbers and get other user ids, and what the upstream reports of
// them, in any order.

/** Where histories are played. */
export interface On {
  world: World
  organization: TestOrganization
}

/** The addresses in a person's messages: the number, the number and the user id, the user id, or a mix. */
type Kind = 'number' | 'both' | 'id' | 'mixed'

interface Choice {
  actor: number
  act: 'say' | 'move' | 'answer' | 'renew'
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
      act: fc.constantFrom<Choice['act']>('say', 'say', 'say', 'move', 'answer', 'renew'),
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

/** By person: the address that the person was last seen with, and the message that showed it. */
type Newest = Record<'user_id' | 'phone_number', Map<number, { upstreamId: string; shown: string }>>

interface History {
  told: Told[]
  /** Persons whose messages must all be in one conversation. */
  whole: Set<number>
  /** The person of each user id. */
  people: Map<string, number>
  /** What each person's contact must show in the end, if everything arrives in order. */
  newest: Newest
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
  /** Persons whose user id changed without their number, which nothing has shown with a user id since. */
  const unlinked = new Set<number>()
  const upstreamIdOf = () => `wamid.P${run}x${told.length}`
  const newest: Newest = { user_id: new Map(), phone_number: new Map() }
  const tell = (person: Person, message: WireMessage, id: number | null) => {
    const upstreamId = upstreamIdOf()
    const value = { messages: [{ id: upstreamId, timestamp: seconds(time), ...message }] }
    told.push({ value, field: 'messages', upstreamId, person: person.index, id })
    return upstreamId
  }
  const showNumber = ({ index, number }: Person, upstreamId: string) =>
    newest.phone_number.set(index, { upstreamId, shown: `+${numberOf(number)}` })
  const showId = ({ index, id }: Person, upstreamId: string) =>
    newest.user_id.set(index, { upstreamId, shown: idOf(id) })
  /** A message of the person, or one to the person from the phone of the business (`isAnswer`). */
  const say = (person: Person, shows: number, isAnswer = false): string => {
    const isShared = shared.has(person.number)
    const mayHide = person.kind === 'number' || (person.kind === 'mixed' && person.mayHide && !isShared)
    const hides = mayHide && (person.kind === 'number' || shows % 3 === 0)
    const showsIdOnly = person.kind === 'id' || (person.kind !== 'number' && shows % 3 === 1 && person.isShown)
    const text = { type: 'text', text: { body: `${person.index}` } }
    const [number, userId] = [numberOf(person.number), idOf(person.id)]
    const side = isAnswer ? 'to' : 'from'
    const ofNumber = { [side]: number }
    const ofId = { [`${side}_user_id`]: userId, [`${side}_parent_user_id`]: parentOf(person) }
    const write = (message: WireMessage, id: number | null) => {
      const upstreamId = tell(person, message, id)
      if (isAnswer) asEcho(told.at(-1) as Told)
      return upstreamId
    }
    if (hides) {
      const upstreamId = write({ ...ofNumber, ...text }, null)
      showNumber(person, upstreamId)
      return upstreamId
    }
    if (showsIdOnly) {
      const upstreamId = write({ ...ofId, ...text }, person.id)
      showId(person, upstreamId)
      return upstreamId
    }
    person.isShown = true
    person.mayHide = true
    const upstreamId = write({ ...ofNumber, ...ofId, ...text }, person.id)
    unlinked.delete(person.index)
    showNumber(person, upstreamId)
    showId(person, upstreamId)
    return upstreamId
  }
  /** The business answers from its phone, and the message is read: the status has both addresses. */
  const answer = (person: Person, shows: number) => {
    const upstreamId = say(person, shows, true)
    const status = { id: upstreamId, status: 'read', timestamp: seconds(time + 1) }
    const recipient = { recipient_id: numberOf(person.number), recipient_user_id: idOf(person.id) }
    const value = { statuses: [{ ...status, ...recipient }] }
    told.push({ value, field: 'messages', upstreamId: null, person: person.index, id: null })
    showId(person, upstreamId)
  }
  /** The user id changes, and nothing else. The upstream has written it in three ways. */
  const renew = (person: Person, { style }: Choice) => {
    if (person.kind === 'number') return
    if (!person.isShown) unlinked.add(person.index)
    const old = person.id
    person.id = ++ids
    people.set(idOf(person.id), person.index)
    links.push([old, person.id])
    const [previous, current] = [idOf(old), idOf(person.id)]
    if (style === 0) {
      const value = { user_id_update: [{ user_id: { previous, current }, timestamp: Number(seconds(time)) }] }
      told.push({ value, field: 'user_id_update', upstreamId: null, person: person.index, id: null })
      const last = newest.user_id.get(person.index)
      if (last) showId(person, last.upstreamId)
      return
    }
    const body = `User ${person.index} changed from ${previous} to ${current}`
    const named = style === 1 ? { user_id: current, previous_user_id: previous } : { user_id: current }
    const system = { type: 'user_changed_user_id', body, ...named }
    showId(person, tell(person, { type: 'system', system }, person.id))
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
    // The contact keeps the former number until the person is seen with the new one.
    newest.phone_number.delete(person.index)
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
    const upstreamId = tell(person, { type: 'system', ...shapes[style] }, hasIds ? person.id : null)
    if (hasIds) showId(person, upstreamId)
    // From here on both user ids belong to one person.
    if (hasIds) links.push([old, person.id])
  }
  const links: [number, number][] = []
  for (const choice of choices) {
    time += 2
    const person = persons[choice.actor % persons.length] as Person
    if (choice.act === 'say') say(person, choice.shows)
    else if (choice.act === 'move') move(person, choice)
    else if (choice.act === 'answer') answer(person, choice.shows)
    else renew(person, choice)
  }
  for (const one of told) one.id = one.id === null ? null : rootOf(links, one.id)
  for (const index of unlinked) whole.delete(index)
  return { told, whole, people, newest }
}

/** Turns a report of a received message into one of a message that was written on the phone of the business. */
function asEcho(one: Told): void {
  const { messages } = one.value as { messages: WireMessage[] }
  one.value = { message_echoes: messages }
  one.field = 'smb_message_echoes'
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
async function receiveAll({ world, organization }: On, histories: Told[][], isTogether: boolean): Promise<void> {
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

/** A contact of a message. */
interface Shown {
  id: string
  user_id: string | null
  parent_user_id: string | null
  phone_number: string | null
}
type Contacts = Map<string, Shown>

/** The contacts of messages, by the upstream's ids of these. */
async function contactsOf({ world, organization }: On, told: Told[]): Promise<Contacts> {
  const { rows } = await world.database.pool.query<Shown & { upstream_id: string }>(
    `SELECT m.upstream_id, c.id, c.user_id, c.parent_user_id, c.phone_number
     FROM messages m JOIN contacts c ON c.organization_id = m.organization_id AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND m.upstream_id = ANY ($2)`,
    [organization.id, told.map((one) => one.upstreamId)],
  )
  return new Map(rows.map(({ upstream_id, ...contact }) => [upstream_id, contact]))
}

/** The user id and the parent user id that a contact shows are those of the person whose messages it has. */
function checkShownIds({ told, people }: History, contacts: Contacts): void {
  for (const { upstreamId, person } of told) {
    const { user_id = null, parent_user_id: parent = null } = contacts.get(upstreamId ?? '') ?? {}
    if (user_id !== null) expect(people.get(user_id), 'the person of the shown user id').toBe(person)
    if (parent !== null) expect(Number(parent.split('x').at(-1)), 'the person of the parent id').toBe(person)
  }
}

/** Contacts show the newest addresses that their people were seen with. */
function checkNewest({ newest }: History, contacts: Contacts): void {
  for (const address of ['user_id', 'phone_number'] as const) {
    for (const { upstreamId, shown } of newest[address].values()) {
      expect(contacts.get(upstreamId)?.[address], `the newest ${address}`).toBe(shown)
    }
  }
}

function check({ told, whole }: History, contacts: Contacts): void {
  const messages = told.filter((one) => one.upstreamId !== null)
  const contactOf = ({ upstreamId }: Told) => contacts.get(upstreamId ?? '')?.id
  expect(messages.filter((one) => contactOf(one) === undefined)).toEqual([])
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

/** How many histories are played, and how many of them at the same time. */
export interface Extent {
  runs: number
  atOnce: number
}

/** Plays random histories; fails at the first one whose messages or shown addresses are with the wrong contact. */
export async function checkHistories(on: On, { runs, atOnce }: Extent): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: atOnce, maxLength: atOnce }),
      fc.boolean(),
      async (plans, isTogether) => {
        const histories = plans.map((one) => ({ one, history: play(one) }))
        await receiveAll(
          on,
          histories.map(({ one, history }) => deliver(history, one)),
          isTogether,
        )
        const contacts = await contactsOf(
          on,
          histories.flatMap(({ history }) => history.told),
        )
        for (const { one, history } of histories) {
          check(history, contacts)
          checkShownIds(history, contacts)
          if (one.inOrder) checkNewest(history, contacts)
        }
      },
    ),
    {
      endOnFailure: true,
      numRuns: Math.ceil(runs / atOnce),
      seed: Number(process.env.PARLEY_TEST_IDENTITY_SEED ?? 18),
    },
  )
}
