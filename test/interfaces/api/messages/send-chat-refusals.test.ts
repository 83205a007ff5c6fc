import { beforeAll, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const CUSTOMER = '16505550001'

const world = useWorld()
const organization = useOrganization(world)

beforeAll(async () => {
  await createContact(world, organization, `+${CUSTOMER}`)
})

const GOOD = { phone_number: CUSTOMER, message_type: 'text', text: 'hello' }

const send = (body: unknown, key = organization.key, path = '/send-chat') => world.request('POST', path, { key, body })

async function sentTotal(): Promise<number> {
  return (await world.sim('GET', '/messages?limit=0')).body.total
}

describe('POST /send-chat returns 400 Missing required field', () => {
  it.each([
    ['phone_number', { ...GOOD, phone_number: undefined }],
    ['phone_number', { ...GOOD, phone_number: '' }],
    ['phone_number', { ...GOOD, phone_number: null }],
    ['message_type', { ...GOOD, message_type: undefined }],
    ['message_type', { ...GOOD, message_type: '' }],
    ['message_type', { ...GOOD, message_type: null }],
    ['text', { ...GOOD, text: undefined }],
    ['text', { ...GOOD, text: '' }],
    ['text', { ...GOOD, text: null }],
  ])('for %s in %j', async (field, body) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Missing required field' })
    expect(answer.body.message).toContain(`${field} is required`)
  })

  it('and for text names the message type', async () => {
    expect((await send({ ...GOOD, text: '' })).body.message).toBe('text is required for text messages')
  })
})

describe('POST /send-chat returns 400 Invalid field', () => {
  it.each([
    ['text', { ...GOOD, text: 5 }],
    ['text', { ...GOOD, text: ['hello'] }],
    ['text', { ...GOOD, text: { body: 'hello' } }],
    ['text', { ...GOOD, text: true }],
    ['text', { ...GOOD, text: 'a'.repeat(4_097) }],
    ['text', { ...GOOD, text: '👍'.repeat(4_097) }],
    ['text', { ...GOOD, text: 'nul \0' }],
    ['message_type', { ...GOOD, message_type: 5 }],
    ['phone_number', { ...GOOD, phone_number: 16505550001 }],
    ['phone_number', { ...GOOD, phone_number: '12345' }],
    ['phone_number', { ...GOOD, phone_number: '+1 650 555 000' }],
    ['phone_number', { ...GOOD, phone_number: 'call me' }],
    ['phone_number', { ...GOOD, phone_number: '9'.repeat(101) }],
  ])('for %s in %.80j', async (field, body) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid field' })
    expect(answer.body.message).toMatch(new RegExp(`^${field} `))
  })

  it('and names the limit', async () => {
    expect((await send({ ...GOOD, text: 'a'.repeat(4_097) })).body.message).toBe(
      'text must have at most 4096 characters',
    )
  })

  it('for half of a surrogate pair', async () => {
    const answer = await send(`{"phone_number":"${CUSTOMER}","message_type":"text","text":"\\ud83d"}`)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'Invalid field', message: expect.stringMatching(/^text /) })
  })
})

describe('POST /send-chat returns 400 Invalid JSON', () => {
  it.each([['{'], ['[]'], ['"text"'], ['7'], ['null'], ['']])('for %j', async (body) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid JSON' })
  })
})

describe('POST /send-chat returns 400 Invalid message type', () => {
  it.each([['carrier-pigeon'], ['TEXT'], [' text'], ['constructor'], ['template']])('for %s', async (message_type) => {
    const answer = await send({ ...GOOD, message_type })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid message type' })
    expect(answer.body.message).toContain(message_type)
  })
})

describe('POST /send-chat returns 400 Invalid provider', () => {
  it.each([
    [null, 'not set'],
    ['gateway', 'gateway'],
  ])('for provider %j', async (provider, named) => {
    const other = await world.createOrganization()
    await createContact(world, other, `+${CUSTOMER}`)
    await world.admin('PATCH', `/organizations/${other.id}`, { provider })
    const answer = await send(GOOD, other.key)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid provider' })
    expect(answer.body.message).toContain(named)
    expect((await conversation(world, other, CUSTOMER)).body.count).toBe(0)
  })

  it('for provider upstream without number and token', async () => {
    const fields = { name: 'Bare', slug: 'bare', provider: 'upstream' }
    const { id } = (await world.admin('POST', '/organizations', fields)).body.organization
    const { key } = (await world.admin('POST', `/organizations/${id}/keys`, { name: 'k' })).body.api_key
    const answer = await send(GOOD, key)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'Invalid provider', message: expect.stringContaining('upstream') })
  })
})

describe('POST /send-chat returns 400 Contact blocked', () => {
  it('and records and sends nothing', async () => {
    const digits = '16505550002'
    await createContact(world, organization, `+${digits}`)
    await world.request('PATCH', `/contact?chat_id=${digits}`, { key: organization.key, body: { blocked: true } })
    const before = await sentTotal()
    const answer = await send({ ...GOOD, phone_number: digits })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Contact blocked' })
    expect(await sentTotal()).toBe(before)
    expect((await conversation(world, organization, digits)).body.count).toBe(0)
  })
})

describe('POST /send-chat returns 404 Contact not found', () => {
  it('with the number, advice to create the contact, and the chat id', async () => {
    const answer = await send({ ...GOOD, phone_number: '+1 (650) 555-0009' })
    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ success: false, error: 'Contact not found', chat_id: '16505550009' })
    expect(answer.body.message).toContain('16505550009')
    expect(answer.body.message).toMatch(/create the contact first/)
  })

  it('for a contact of another organization', async () => {
    const other = await world.createOrganization()
    const answer = await send(GOOD, other.key)
    expect(answer.status).toBe(404)
    expect(answer.body.error).toBe('Contact not found')
  })

  it('for a person without a number', async () => {
    const chatId = `0${'1'.repeat(19)}`
    expect((await send({ ...GOOD, phone_number: chatId })).body).toMatchObject({
      error: 'Contact not found',
      chat_id: chatId,
    })
  })
})

describe('POST /send-chat returns 401 and 403', () => {
  it('without a key, for another tenantId, and without the scope', async () => {
    const other = await world.createOrganization()
    const path = `/organizations/${organization.id}/keys`
    const reader = await world.admin('POST', path, { name: 'reader', scopes: ['contacts:read'] })
    const bare = await world.request('POST', '/send-chat', { body: GOOD })
    expect([bare.status, bare.body.error]).toEqual([401, 'Authorization required'])
    const foreign = await send(GOOD, organization.key, `/send-chat?tenantId=${other.slug}`)
    expect([foreign.status, foreign.body.error]).toEqual([401, 'Invalid API key'])
    const narrow = await send(GOOD, reader.body.api_key.key)
    expect([narrow.status, narrow.body.error]).toEqual([403, 'Insufficient scope'])
  })
})

describe('POST /send-chat checks in this order', () => {
  it('key, tenantId, body, provider, contact, referenced message', async () => {
    const other = await world.createOrganization()
    await createContact(world, other, `+${CUSTOMER}`)
    await world.admin('PATCH', `/organizations/${other.id}`, { provider: null })
    const nobody = '16505550010'
    const badContext = { context_message_id: 'wamid.nothing' }
    const errorOf = async (body: object, key: string, path?: string) => (await send(body, key, path)).body.error

    expect(await errorOf({}, 'parley_nonsense', '/send-chat?tenantId=x')).toBe('Invalid API key')
    expect(await errorOf({}, other.key, '/send-chat?tenantId=x')).toBe('Invalid API key')
    expect(await errorOf({ ...GOOD, text: '' }, other.key)).toBe('Missing required field')
    expect(await errorOf({ ...GOOD, phone_number: '123' }, other.key)).toBe('Invalid field')
    expect(await errorOf({ ...GOOD, message_type: 'x' }, other.key)).toBe('Invalid message type')
    expect(await errorOf({ ...GOOD, phone_number: nobody, ...badContext }, other.key)).toBe('Invalid provider')
    expect(await errorOf({ ...GOOD, phone_number: nobody, ...badContext }, organization.key)).toBe('Contact not found')
    expect(await errorOf({ ...GOOD, ...badContext }, organization.key)).toBe('Message not found')
  })
})
