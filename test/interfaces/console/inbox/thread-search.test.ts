import { beforeAll, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const DIGITS = '16505550100'

const world = useWorld()
const organization = useOrganization(world)
let analyst: SignedInMember
let stranger: SignedInMember
let contactId: string

beforeAll(async () => {
  analyst = await signIn(world, organization, { role: 'analyst', fullName: 'Ana Lyst' })
  stranger = await signIn(world, await world.createOrganization())
  contactId = await createContact(world, organization, `+${DIGITS}`)
  await receiveMessages(
    world,
    organization,
    ...['Qual é o frete?', 'Obrigado', 'FRÊTE grátis!', 'Até logo'].map((text) => textMessage(DIGITS, text)),
  )
})

const search = (query: Record<string, string>, by = analyst, id = contactId) =>
  by.call('GET', `/contacts/${id}/search?${new URLSearchParams(query)}`)

it('returns messages with the words, newest first, with their numbers', async () => {
  const { status, body } = await search({ query: 'frete' })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    success: true,
    total: 2,
    messages: [
      { seq: 3, message: 'FRÊTE grátis!', sender_type: 'user-chat' },
      { seq: 1, message: 'Qual é o frete?' },
    ],
  })
})

it('returns messages with any of several terms, in pages', async () => {
  const first = await search({ query: 'frete, obrigado', limit: '2' })
  const second = await search({ query: 'frete, obrigado', limit: '2', page: '2' })
  expect(first.body.total).toBe(3)
  expect([...first.body.messages, ...second.body.messages].map(({ seq }) => seq)).toEqual([3, 2, 1])
})

it('reports that no message contains the words', async () => {
  expect((await search({ query: 'pix' })).body).toEqual({ success: true, messages: [], total: 0 })
})

it.each([
  ['no words', { query: ' , ' }, 'Missing required parameter'],
  ['no query', {}, 'Missing required parameter'],
  ['an impossible page', { query: 'frete', page: '0' }, 'Invalid parameter'],
])('refuses %s', async (_, query, error) => {
  const { status, body } = await search(query)
  expect({ status, error: body.error }).toEqual({ status: 400, error })
})

it('shows nothing of another organization', async () => {
  const { status, body } = await search({ query: 'frete' }, stranger)
  expect({ status, error: body.error }).toEqual({ status: 404, error: 'Contact not found' })
  expect(JSON.stringify(body)).not.toContain('grátis')
})
