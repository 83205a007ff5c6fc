import fc from 'fast-check'
import { expect, it } from 'vitest'
import { resolveContact } from '../../../src/core/contacts/resolution/resolve-contact.js'
import { searchConversation } from '../../../src/core/conversations/read.js'
import { findMatches, indexConversation } from '../../../src/core/conversations/search.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { normalizeText } from '../../../src/lib/text/normalize.js'
import { type SearchTerm, searchableText } from '../../../src/model/conversations/search-terms.js'
import { findContactByAddresses, findContactById } from '../../../src/storage/contacts/contacts.js'
import { listMatches, walkMatches } from '../../../src/storage/conversations/search.js'
import { recordIncomingChange } from '../../../src/storage/messages/incoming-changes.js'
import { setTranscription } from '../../../src/storage/messages/incoming-media.js'
import { wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations } from '../../support/conversations.js'
import { messageIdOf } from '../../support/rows/messages.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let people = 0

const WORDS = [
  'ação',
  'ACAO',
  'aça\u0303o',
  'pix',
  'Straße',
  'strass',
  '1001',
  '10010',
  '#1001',
  'n°1001.',
  '50%',
  'a_b',
  'a.b',
  '\\',
]
const word = fc.constantFrom(...WORDS)
const text = fc.array(word, { maxLength: 3 }).chain((words) => fc.constantFrom(words.join(' '), words.join('')))
const number = fc.nat({ max: 10_000 })
const term = fc.record({
  text: fc.oneof(word, fc.constantFrom('a', '1', '%', 'ss', 'c\u0327a')),
  isWhole: fc.boolean(),
})
const question = fc.record({
  terms: fc.array(term, { minLength: 1, maxLength: 3 }),
  page: fc.integer({ min: 1, max: 6 }),
  limit: fc.integer({ min: 1, max: 12 }),
  ascending: fc.boolean(),
})

type Step =
  | { kind: 'say' | 'merge'; texts: string[] }
  | { kind: 'index' }
  | { kind: 'edit' | 'transcribe'; number: number; text: string }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('say' as const), texts: fc.array(text, { maxLength: 12 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('index' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('edit' as const, 'transcribe' as const), number, text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('merge' as const), texts: fc.array(text, { maxLength: 6 }) }) },
)
const story = fc.array(fc.record({ step, questions: fc.array(question, { maxLength: 3 }) }), {
  minLength: 1,
  maxLength: 14,
})

/** A message in the reference model. */
interface Said {
  upstreamId: string
  text: string
  transcription: string | null
}

/** A conversation with its expected messages. */
class Reference {
  readonly said: Said[] = []
  readonly digits: string
  readonly id: string

  constructor(digits: string, id: string) {
    this.digits = digits
    this.id = id
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'say') await this.say(step.texts)
    if (step.kind === 'index') await indexConversation(world.app.ctx, organization.id, this.id)
    if (step.kind === 'merge') await this.merge(step.texts)
    const message = 'number' in step ? this.said[step.number % this.said.length] : undefined
    if (step.kind === 'edit' && message) await this.edit(message, step.text)
    if (step.kind === 'transcribe' && message) await this.transcribe(message, step.text)
  }

  async say(texts: string[], contactId = this.id): Promise<void> {
    const upstreamIds = await insertMessages(world, contactId, texts)
    this.said.push(...texts.map((text, n) => ({ upstreamId: upstreamIds[n] as string, text, transcription: null })))
  }

  /** A person known only by a user id turns out to be this person; half of their messages are indexed. */
  async merge(texts: string[]): Promise<void> {
    const { ctx } = world.app
    const userId = `BR.${newId()}`
    // Each user id belongs to another business, so they do not contradict each other.
    const hearing = { at: new Date(), instanceId: newId() }
    await resolveContact(ctx, organization.id, { waId: null, userId }, hearing)
    const younger = await findContactByAddresses(ctx.database, organization.id, [`user:${userId}`])
    if (!younger) throw new Error('the person was not made a contact')
    await this.say(texts.slice(0, 3), younger.id)
    await indexConversation(ctx, organization.id, younger.id)
    await this.say(texts.slice(3), younger.id)
    await resolveContact(ctx, organization.id, { waId: this.digits, userId }, hearing)
  }

  async edit(message: Said, text: string): Promise<void> {
    message.text = text
    await world.database.transaction((transaction) =>
      recordIncomingChange(
        transaction,
        organization.id,
        { addresses: [this.digits], required: [this.digits], contactId: null },
        {
          kind: 'edit',
          id: newId(),
          upstreamId: wamid(),
          text,
          replyToUpstreamId: message.upstreamId,
          instanceId: null,
          sender_type: 'user-chat',
          network: null,
          created_at: new Date(),
        },
      ),
    )
  }

  async transcribe(message: Said, text: string): Promise<void> {
    message.transcription = text
    const id = await messageIdOf(world, message.upstreamId)
    await world.database.transaction((transaction) => setTranscription(transaction, organization.id, id, text))
  }

  /** The numbers of the messages that hold one of the terms, oldest first. */
  search(terms: readonly SearchTerm[]): number[] {
    return this.said.flatMap(({ text, transcription }, index) =>
      terms.some((one) => holds(text, one) || (transcription !== null && holds(transcription, one))) ? [index + 1] : [],
    )
  }
}

function holds(text: string, { text: term, isWhole }: SearchTerm): boolean {
  const [folded, wanted] = [normalizeText(text), normalizeText(term)]
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + 1)) {
    const goesOn =
      (/^\d/.test(wanted) && /\d$/.test(folded.slice(0, at))) ||
      (/\d$/.test(wanted) && /^\d/.test(folded.slice(at + wanted.length)))
    if (!isWhole || !goesOn) return true
  }
  return false
}

function cut<Item>(
  all: readonly Item[],
  { page, limit, ascending }: { page: number; limit: number; ascending: boolean },
) {
  return (ascending ? all : all.toReversed()).slice((page - 1) * limit, page * limit)
}

it('a search returns the same as reading every message, for any indexed part', async () => {
  let [questions, indexed] = [0, 0]
  await fc.assert(
    fc.asyncProperty(story, async (chapters) => {
      const digits = `55119${String(90_000_000 + ++people)}`
      const reference = new Reference(digits, await createContact(world, organization, `+${digits}`))
      for (const { step, questions: asked } of chapters) {
        await reference.take(step)
        const contact = await findContactById(world.database, organization.id, reference.id)
        if (!contact) throw new Error('the contact is gone')
        for (const { terms, ...range } of asked) {
          questions++
          if (contact.searchable_seq > 0) indexed++
          const expected = reference.search(terms)
          const { messages, total } = await searchConversation(world.app.ctx, contact, terms, range)
          expect({ terms, total, seqs: messages.map(({ seq }) => seq) }).toEqual({
            terms,
            total: expected.length,
            seqs: cut(expected, range),
          })
          const skip = (range.page - 1) * range.limit
          const found = await findMatches(world.app.ctx, contact, terms, { skip, ...range })
          expect(found).toEqual({ total: expected.length, seqs: cut(expected, range) })

          const until = contact.searchable_seq
          const conversation = { organizationId: organization.id, contactId: contact.id, after: 0, until }
          const known = cut(
            expected.filter((seq) => seq <= until),
            range,
          )
          for (const find of [listMatches, walkMatches]) {
            expect(await find(world.database, conversation, terms, { skip, ...range })).toEqual(known)
          }
        }
      }
    }),
    { seed: 4, numRuns: 80 },
  )
  expect(questions).toBeGreaterThan(500)
  expect(indexed).toBeGreaterThan(200)
})

it('the pages of a search over HTTP contain all results', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 20, maxLength: 60 }),
      fc.nat({ max: 60 }),
      fc.record({
        words: fc.array(word, { minLength: 1, maxLength: 3 }),
        limit: fc.integer({ min: 1, max: 9 }),
        ascending: fc.boolean(),
      }),
      async (texts, indexed, { words, limit, ascending }) => {
        const digits = `55119${String(90_000_000 + ++people)}`
        const reference = new Reference(digits, await createContact(world, organization, `+${digits}`))
        await reference.say(texts.slice(0, indexed))
        await reference.take({ kind: 'index' })
        await reference.say(texts.slice(indexed))
        const expected = reference
          .search(words.map((one) => ({ text: one, isWhole: false })))
          .map((seq) => texts[seq - 1])
        const shown: string[] = []
        for (let page = 1; page <= Math.ceil(expected.length / limit) + 1; page++) {
          const query = {
            chatNumber: digits,
            query: words.join(','),
            limit: `${limit}`,
            page: `${page}`,
            ascending: `${ascending}`,
          }
          const { body } = await readConversations(world, organization, query)
          expect(body.pagination).toEqual({
            currentPage: page,
            totalPages: Math.ceil(expected.length / limit),
            totalMessages: expected.length,
            messagesPerPage: limit,
            hasNextPage: page * limit < expected.length,
            hasPrevPage: page > 1 && expected.length > 0,
          })
          shown.push(...body.messages.map(({ message }: { message: string }) => message))
        }
        expect(shown).toEqual(ascending ? expected : expected.toReversed())
      },
    ),
    { seed: 5, numRuns: 25 },
  )
})

it('the index holds the normalized text and transcription of each message', async () => {
  const digits = '5511933334444'
  const reference = new Reference(digits, await createContact(world, organization, `+${digits}`))
  await reference.say(['Ação', 'pix'])
  await reference.take({ kind: 'index' })
  await reference.take({ kind: 'transcribe', number: 1, text: 'Olá' })
  const { rows } = await world.database.pool.query(
    'SELECT seq, folded FROM message_search WHERE contact_id = $1 ORDER BY seq',
    [reference.id],
  )
  expect(rows).toEqual([
    { seq: 1, folded: searchableText('Ação', null) },
    { seq: 2, folded: searchableText('pix', 'Olá') },
  ])
})
