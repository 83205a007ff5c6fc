import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageStatus } from '../../../src/model/messages/message.js'
import { changeByHistory, placeByTime, readHistoryStatus } from '../../../src/model/messages/phone-history.js'
import { randomOf, shuffle } from '../../support/random.js'

describe('the status of a message in a history', () => {
  it('is one of those of messages, in capitals or not', () => {
    const words = ['SENT', 'DELIVERED', 'READ', 'PLAYED', 'PENDING', 'ERROR', 'read', 'pending', 'NEW', 7, null]
    expect(words.map(readHistoryStatus)).toEqual([
      ...['sent', 'delivered', 'read', 'read', 'sent', 'failed', 'read', 'sent'],
      ...[null, null, null],
    ])
  })

  it('only moves forward, and not for what Parley sent', () => {
    const recorded = { status: 'delivered' as const, isPlaceholder: false, isDeleted: false, isOwn: false }
    const to = (status: MessageStatus | null, known = {}) =>
      changeByHistory({ ...recorded, ...known }, { status, isPlaceholder: false }).status
    expect([to('sent'), to('failed'), to('delivered'), to('read'), to(null)]).toEqual([null, null, null, 'read', null])
    expect([to('delivered', { status: 'failed' }), to('failed', { status: 'sent' })]).toEqual(['delivered', 'failed'])
    expect(to('read', { isOwn: true })).toBeNull()
  })
})

describe('a placeholder', () => {
  it('is filled by a real message, unless it was deleted', () => {
    const recorded = { status: 'sent' as const, isPlaceholder: true, isDeleted: false, isOwn: false }
    const fills = (known: object, isPlaceholder = false) =>
      changeByHistory({ ...recorded, ...known }, { status: null, isPlaceholder }).fills
    expect([fills({}), fills({}, true), fills({ isDeleted: true }), fills({ isPlaceholder: false })]).toEqual([
      ...[true, false, false, false],
    ])
  })
})

describe('the places of messages', () => {
  it('are before the first newer one, and older ones make room', () => {
    expect(placeByTime(1, [10, 20, 30], [5, 20, 25, 40])).toEqual({
      seqs: [-3, 0, 1, 3],
      falls: [
        { from: 1, to: 2, by: 3 },
        { from: 3, to: 3, by: 1 },
      ],
    })
    expect(placeByTime(4, [], [1, 2])).toEqual({ seqs: [2, 3], falls: [] })
    expect(placeByTime(4, [9], [1, 2])).toEqual({ seqs: [2, 3], falls: [] })
  })

  it('leave no gap and no double number, and keep the order of what was there', () => {
    const times = fc.array(fc.nat(30), { maxLength: 12 })
    fc.assert(
      fc.property(fc.integer({ min: -20, max: 20 }), times, times, (firstSeq, there, given) => {
        const added = given.toSorted((a, b) => a - b)
        const { seqs, falls } = placeByTime(firstSeq, there, added)
        const moved = there.map((_, n) => {
          const seq = firstSeq + n
          return seq - (falls.find(({ from, to }) => seq >= from && seq <= to)?.by ?? 0)
        })
        const all = [...moved, ...seqs].sort((a, b) => a - b)
        expect(all).toEqual(all.map((_, n) => firstSeq - added.length + n))
        expect(moved).toEqual(moved.toSorted((a, b) => a - b))
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
      }),
    )
  })
})

/** A message as any of its sources tells of it. */
interface Told {
  id: number
  time: number
  text: string
  status: MessageStatus | null
  isPlaceholder: boolean
}

type Arrival = { kind: 'chunk'; messages: Told[] } | { kind: 'live'; message: Told } | { kind: 'revoke'; id: number }

interface Row extends Told {
  seq: number
  status: MessageStatus
  onlyInHistory: boolean
  isDeleted: boolean
  /** How often it was told as a new message. */
  told: number
}

/**
 * A conversation in memory. What a history does is done by the rules of the service; what messages do is what recording
 * them does: the next number, once per id, and telling.
 */
class Conversation {
  #firstSeq = 1
  #lastSeq = 0
  readonly #rows = new Map<number, Row>()
  readonly #deleted = new Set<number>()

  arrive(arrival: Arrival): void {
    if (arrival.kind === 'chunk') this.#takeIn(arrival.messages)
    else if (arrival.kind === 'live') this.#record(arrival.message)
    else this.#delete(arrival.id)
  }

  inOrder(): Row[] {
    return [...this.#rows.values()].sort((a, b) => a.seq - b.seq)
  }

  #takeIn(messages: readonly Told[]): void {
    const fresh = new Map<number, Told & { status: MessageStatus; isDeleted: boolean }>()
    for (const message of messages) {
      const known = this.#rows.get(message.id) ?? fresh.get(message.id)
      if (known) this.#change(known, message)
      else fresh.set(message.id, { ...message, status: message.status ?? 'sent', isDeleted: false })
    }
    const added = [...fresh.values()].toSorted((a, b) => a.time - b.time)
    const there = this.inOrder()
    const { seqs, falls } = placeByTime(
      this.#firstSeq,
      there.map(({ time }) => time),
      added.map(({ time }) => time),
    )
    for (const row of there) row.seq -= falls.find(({ from, to }) => row.seq >= from && row.seq <= to)?.by ?? 0
    for (const [n, message] of added.entries()) this.#add(message, seqs[n] as number, true)
    this.#firstSeq -= added.length
  }

  #change(row: Told & { status: MessageStatus; isDeleted: boolean }, message: Told): void {
    const { fills, status } = changeByHistory({ ...row, isOwn: false }, message)
    if (fills) Object.assign(row, { text: message.text, isPlaceholder: false })
    row.status = status ?? row.status
  }

  #record(message: Told): void {
    const row = this.#rows.get(message.id)
    if (!row) this.#add(message, ++this.#lastSeq, false)
    else if (row.onlyInHistory) {
      row.onlyInHistory = false
      for (const other of this.#rows.values()) if (other.seq > row.seq) other.seq -= 1
      row.seq = this.#lastSeq
      row.told = row.isDeleted ? 0 : 1
      if (!row.isDeleted) Object.assign(row, { text: message.text, isPlaceholder: false })
    }
  }

  #add(message: Told, seq: number, onlyInHistory: boolean): void {
    const isDeleted = this.#deleted.has(message.id)
    const status = message.status ?? 'sent'
    const told = onlyInHistory || isDeleted ? 0 : 1
    const text = isDeleted ? '' : message.text
    this.#rows.set(message.id, { ...message, text, seq, status, onlyInHistory, isDeleted, told })
  }

  #delete(id: number): void {
    this.#deleted.add(id)
    const row = this.#rows.get(id)
    if (row) Object.assign(row, { text: '', isDeleted: true })
  }
}

const STATUSES: MessageStatus[] = ['sent', 'delivered', 'read']

/** The history of one conversation: 12 messages, of which the last ones also come live, and further ones. */
function makeArrivals(random: () => number): { history: Arrival[]; live: Arrival[] } {
  const pick = (below: number) => Math.floor(random() * below)
  const past = Array.from({ length: 12 }, (_, n): Told => {
    const isFile = n % 4 === 1
    return {
      id: n,
      time: n * 10,
      text: isFile ? '[file]' : `text ${n}`,
      status: STATUSES[pick(3)] ?? null,
      isPlaceholder: isFile,
    }
  })
  const chunks: Told[][] = [[], [], [], []]
  for (const message of past) {
    chunks[pick(4)]?.push(message)
    // The upstream repeats, with a later status.
    if (pick(4) === 0) chunks[pick(4)]?.push({ ...message, status: 'read' })
  }
  const files = past
    .filter(({ isPlaceholder }) => isPlaceholder)
    .map((one) => ({ ...one, text: `file ${one.id}`, status: null, isPlaceholder: false }))
  const realOf = (one: Told): Told => ({ ...(files.find(({ id }) => id === one.id) ?? one), status: 'sent' })
  const newer = Array.from(
    { length: 4 },
    (_, n): Told => ({ id: 12 + n, time: 120 + n * 10, text: `text ${12 + n}`, status: 'sent', isPlaceholder: false }),
  )
  const live = [...past.slice(12 - pick(6)).map(realOf), ...newer].map(
    (message): Arrival => ({ kind: 'live', message }),
  )
  return {
    history: [
      ...chunks.map((messages): Arrival => ({ kind: 'chunk', messages })),
      ...files.map((file): Arrival => ({ kind: 'chunk', messages: [file] })),
      { kind: 'revoke', id: pick(16) },
    ],
    live,
  }
}

/** Both lists in one, each in its order. */
function merge(random: () => number, one: readonly Arrival[], other: readonly Arrival[]): Arrival[] {
  const [left, right] = [[...one], [...other]]
  const merged: Arrival[] = []
  while (left.length + right.length > 0) {
    const next = random() * (left.length + right.length) < left.length ? left.shift() : right.shift()
    if (next) merged.push(next)
  }
  return merged
}

function play(arrivals: readonly Arrival[]): Row[] {
  const conversation = new Conversation()
  for (const arrival of arrivals) conversation.arrive(arrival)
  return conversation.inOrder()
}

/** What a conversation is in the end, but for the order of what came live out of order. */
function meaning(rows: readonly Row[]) {
  return rows
    .map(({ id, text, status, isPlaceholder, onlyInHistory, isDeleted }) => {
      return { id, text, status, isDeleted, onlyInHistory, isPlaceholder: isPlaceholder && !isDeleted }
    })
    .sort((a, b) => a.id - b.id)
}

describe('10,000 shuffles of a history, messages, files and deletions', () => {
  const CONVERSATIONS = 100
  const SHUFFLES = 100

  it('give one conversation, each message once and told at most once', () => {
    for (let seed = 1; seed <= CONVERSATIONS; seed++) {
      const random = randomOf(seed)
      const { history, live } = makeArrivals(random)
      const expected = meaning(play([...live, ...history]))
      for (let n = 0; n < SHUFFLES; n++) {
        const rows = play(shuffle(random, [...history, ...live]))
        expect(meaning(rows), `conversation ${seed}, shuffle ${n}`).toEqual(expected)
        expect(rows.every(({ told }) => told <= 1)).toBe(true)
        const first = rows[0]?.seq ?? 0
        expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, place) => first + place))
      }
    }
  })

  it('give one order, that of time, if messages come in the order in which they were written', () => {
    for (let seed = 1; seed <= CONVERSATIONS; seed++) {
      const random = randomOf(seed)
      const { history, live } = makeArrivals(random)
      const times = play([...history, ...live]).map(({ id }) => id)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      for (let n = 0; n < SHUFFLES; n++) {
        const rows = play(merge(random, shuffle(random, history), live))
        expect(
          rows.map(({ id }) => id),
          `conversation ${seed}, shuffle ${n}`,
        ).toEqual(times)
      }
    }
  })
})
