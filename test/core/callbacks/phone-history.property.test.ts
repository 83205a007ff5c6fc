import { expect, it } from 'vitest'
import { textMessage } from '../../support/callbacks.js'
import { conversation } from '../../support/conversations.js'
import { chunkOf, OWN_NUMBER, pastText, postField } from '../../support/phone-history.js'
import { randomOf, shuffle } from '../../support/random.js'
import { eventsOf } from '../../support/rows/events.js'
import { TIMES } from '../../support/times.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

// The rules by which a history becomes part of a conversation are shuffled 10,000 times in
// test/model/messages/phone-history; here, some dozens of shuffles go through the whole service, or as many as are asked
// for.

const SHUFFLES = Number(process.env.PARLEY_TEST_HISTORY_SHUFFLES ?? 24 * TIMES)
/** How many are played at once, each by an organization of its own. */
const AT_ONCE = 24
/** Of the first shuffles that are played at once; the next ones follow. */
const FIRST_SEED = Number(process.env.PARLEY_TEST_HISTORY_SEED ?? Math.floor(Math.random() * 1e9))
const ANA = '12025550147'
const DAY = 1_750_000_000

const world = useWorld()

type Post = (to: TestOrganization) => Promise<void>

const text = (id: number, fields: object = {}) => pastText(`m${id}`, DAY + id, `text ${id}`, { from: ANA, ...fields })
const typed = (id: number, status: string) => text(id, { to: ANA, status })
const history =
  (messages: object[], phase: number, progress: number): Post =>
  (to) =>
    postField(
      world,
      to,
      'history',
      chunkOf({ person: ANA, messages: messages as Record<string, unknown>[], phase, progress }),
    )
const message =
  (id: number): Post =>
  (to) =>
    postField(world, to, 'messages', {
      messages: [textMessage(ANA, `text ${id}`, { id: `m${id}`, timestamp: String(DAY + id) })],
    })
const echo =
  (id: number): Post =>
  (to) => {
    const written = {
      from: OWN_NUMBER,
      to: ANA,
      id: `m${id}`,
      timestamp: String(DAY + id),
      type: 'text',
      text: { body: `text ${id}` },
    }
    return postField(world, to, 'smb_message_echoes', { message_echoes: [written] })
  }
const revoke =
  (id: number): Post =>
  (to) => {
    const revoked = { original_message_id: `m${id}` }
    return postField(world, to, 'messages', {
      messages: [{ from: ANA, id: `r${id}`, timestamp: String(DAY + 90), type: 'revoke', revoke: revoked }],
    })
  }
const placeholder = (id: number) => ({
  from: ANA,
  id: `m${id}`,
  timestamp: String(DAY + id),
  type: 'media_placeholder',
  history_context: { status: 'READ' },
})
const file =
  (id: number): Post =>
  (to) => {
    const image = { id: `file${id}`, mime_type: 'image/jpeg', caption: `text ${id}` }
    return postField(world, to, 'history', {
      messages: [{ from: ANA, id: `m${id}`, timestamp: String(DAY + id), type: 'image', image }],
    })
  }

const changed = (id: string, fields: object) => ({ from: ANA, id, timestamp: String(DAY + 80), ...fields })
const edit = (id: number) => {
  const edited = { original_message_id: `m${id}`, message: { type: 'text', text: { body: `edited ${id}` } } }
  return changed(`e${id}`, { type: 'edit', edit: edited })
}
const reaction = (id: number) => {
  return changed(`l${id}`, { type: 'reaction', reaction: { message_id: `m${id}`, emoji: '👍' } })
}

/** A history in chunks with a file, some of which also comes live or as echoes, with changes and a deletion. */
const PAST: Post[] = [
  history([text(9), typed(8, 'SENT'), text(10)], 0, 10),
  history([text(5), typed(6, 'READ'), placeholder(7)], 1, 60),
  history([text(1), text(2), typed(3, 'DELIVERED'), text(4)], 2, 100),
  history([typed(8, 'READ'), text(5), text(10)], 0, 10),
  history([edit(5), reaction(6), edit(9)], 0, 20),
  file(7),
  revoke(4),
]
const LIVE: Post[] = [echo(8), message(9), message(10), echo(11), message(12)]

/** The past in any order, some of it twice, and in between what comes live, in its order. */
function makeOrder(random: () => number): Post[] {
  const given = [...PAST, ...PAST.filter(() => random() < 0.2)]
  const places = shuffle(random, [...given.map(() => true), ...LIVE.map(() => false)])
  const [past, live] = [shuffle(random, given), [...LIVE]]
  return places.map((isPast) => (isPast ? past.pop() : live.shift()) as Post)
}

/** Plays each of these orders in an organization of its own, all at once. Resolves to what each of them shows. */
async function play(orders: readonly (readonly Post[])[], random: () => number): Promise<Shown[]> {
  await world.reset()
  const organizations = await Promise.all(orders.map(() => world.createOrganization()))
  const steps = Math.max(...orders.map((posts) => posts.length))
  for (let step = 0; step < steps; step++) {
    await Promise.all(organizations.map((organization, n) => orders[n]?.[step]?.(organization)))
    if (random() < 0.5) await world.drain()
  }
  await world.drain()
  return Promise.all(organizations.map(show))
}

type Shown = Awaited<ReturnType<typeof show>>

async function show(organization: TestOrganization) {
  const { body } = await conversation(world, organization, ANA)
  const events = await eventsOf(world, organization)
  const told = events.flatMap(({ type, data }) =>
    /^message\.(?:received|sent)$/.test(type) ? [`${type} ${data.message.upstream_id}`] : [],
  )
  const last = events.findLast(({ type }) => type === 'history.imported')?.data.history
  return {
    messages: body.messages.map((one: Record<string, unknown>) => {
      const { message_id, message, message_type, sender_type, message_status, created_at, reactions } = one
      const shown = { message_id, message, message_type, sender_type, message_status, created_at }
      return { ...shown, reactions: emojisOf(reactions) }
    }),
    told,
    history: { status: last?.status, progress: last?.progress },
  }
}

function emojisOf(reactions: unknown): string[] {
  return ((reactions ?? []) as { emoji: string }[]).map(({ emoji }) => emoji)
}

async function checkShuffles(): Promise<void> {
  const [expected] = (await play([[...LIVE, ...PAST]], () => 0)) as [Shown]
  expect(expected.messages.map(({ message }: { message: string }) => message)).toEqual([
    ...['text 1', 'text 2', 'text 3', '', 'edited 5', 'text 6', 'text 7', 'text 8', 'edited 9', 'text 10', 'text 11'],
    'text 12',
  ])
  expect(expected.messages[5]?.reactions).toEqual(['👍'])
  expect(expected.told).toEqual([
    ...['message.sent m8', 'message.received m9', 'message.received m10'],
    ...['message.sent m11', 'message.received m12'],
  ])
  expect(expected.history).toEqual({ status: 'done', progress: 100 })
  for (let played = 0; played < SHUFFLES; played += AT_ONCE) {
    const seed = FIRST_SEED + played
    const random = randomOf(seed)
    const orders = Array.from({ length: Math.min(AT_ONCE, SHUFFLES - played) }, () => makeOrder(random))
    for (const found of await play(orders, random)) {
      expect(found, `PARLEY_TEST_HISTORY_SEED=${seed}`).toEqual(expected)
    }
  }
}

it(
  `${SHUFFLES} shuffles of a history, messages and echoes give one conversation, each message told once`,
  checkShuffles,
  Math.max(60_000, SHUFFLES * 2_000),
)
