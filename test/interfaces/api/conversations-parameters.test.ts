import { beforeAll, describe, expect, it } from 'vitest'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations } from '../../support/conversations.js'
import { requestAsDescribed } from '../../support/openapi.js'
import { useOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '5511999990011'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
let contactId: string

beforeAll(async () => {
  contactId = await createContact(world, organization, `+${CUSTOMER}`, { full_name: 'Ada' })
  await insertMessages(world, contactId, ['one', 'two', 'three'])
})

const read = (query: Record<string, string>, owner = organization) => readConversations({ request }, owner, query)
const find = (query: Record<string, string>, owner = organization) => read({ action: 'find-by-phone', ...query }, owner)

const ACTIONS = ['conversation-messages', 'find-by-phone']

describe('the contact of GET /conversations', () => {
  it.each([
    [
      'BR',
      '5511987651234',
      ['+55 (11) 98765-1234', '5511987651234', '00 55 11 98765 1234', '011 98765-1234', '11987651234'],
    ],
    ['BR', '5531988887777', ['+55 31 8888-7777', '553188887777', '031 8888-7777', '(31) 98888.7777']],
    [
      'DE',
      '4915123456789',
      ['+49 1512 3456789', '4915123456789', '0049 1512 3456789', '01512 3456789', '01512/3456789'],
    ],
    ['IT', '390612345678', ['+39 06 1234 5678', '390612345678', '0039 06 12345678', '06 1234 5678']],
    ['IT', '393331234567', ['+39 333 123 4567', '333 1234567', '0039 333 1234567']],
    ['US', '14155552671', ['+1 (415) 555-2671', '14155552671', '(415) 555-2671', '415.555.2671', '1-415-555-2671']],
  ])('%s: %s is found by every form of the number', async (default_country, digits, forms) => {
    const owner = await world.createOrganization({ default_country })
    const id = await createContact(world, owner, `+${digits}`)
    for (const chatNumber of forms) {
      expect({ chatNumber, id: (await find({ chatNumber }, owner)).body.contact?.id }).toEqual({ chatNumber, id })
      expect((await read({ chatNumber }, owner)).status).toBe(200)
    }
  })

  it('created with an old Brazilian form is found by the new one', async () => {
    const id = await createContact(world, organization, '+55 21 8765-4321')
    for (const chatNumber of ['5521987654321', '552187654321', '+55 (21) 98765-4321']) {
      const { body } = await find({ chatNumber })
      expect([body.contact.id, body.contact.chat_id]).toEqual([id, '5521987654321'])
    }
  })

  it('is found by its id in either case, and by both ids if they match', async () => {
    const queries: Record<string, string>[] = [
      { contactId },
      { contactId: contactId.toUpperCase() },
      { contactId, chatNumber: `+${CUSTOMER}` },
    ]
    for (const query of queries) {
      expect((await read(query)).body).toMatchObject({ count: 3, stored: true })
    }
    expect((await find({ contactId, chatNumber: CUSTOMER })).body.contact.id).toBe(contactId)
    expect((await read({ contactId, chatNumber: '' })).body.count).toBe(3)
  })

  it.each(ACTIONS)('must be one contact (%s)', async (action) => {
    const other = action === 'find-by-phone' ? '5511999990015' : '5511999990016'
    await createContact(world, organization, `+${other}`)
    for (const chatNumber of [other, '5511999990099']) {
      const { status, body } = await read({ action, contactId, chatNumber })
      expect([status, body.error]).toEqual([400, 'Invalid parameter'])
      expect(body.message).toContain('contactId')
    }
  })

  it.each(ACTIONS)('returns 404 if it is unknown (%s)', async (action) => {
    for (const query of [{ chatNumber: '5511999990099' }, { chatNumber: '00000000000000000001' }]) {
      const { status, body } = await read({ action, ...query })
      expect(status).toBe(404)
      expect(body).toMatchObject({ success: false, error: 'Contact not found' })
      expect(body.message).toContain(query.chatNumber)
    }
    const unknown = await read({ contactId: '01a1fbdb-f2f0-727b-b64b-643e13b34149' })
    expect([unknown.status, unknown.body.error]).toEqual([404, 'Contact not found'])
  })

  it("is never another organization's contact", async () => {
    const other = await world.createOrganization()
    expect((await read({ contactId }, other)).status).toBe(404)
    for (const action of ACTIONS) expect((await read({ action, chatNumber: CUSTOMER }, other)).status).toBe(404)
    const id = await createContact(world, other, `+${CUSTOMER}`)
    expect((await read({ chatNumber: CUSTOMER }, other)).body).toMatchObject({ count: 0, stored: false })
    expect((await find({ chatNumber: CUSTOMER }, other)).body.contact.id).toBe(id)
    for (const action of ACTIONS) {
      expect((await read({ action, chatNumber: CUSTOMER, contactId }, other)).status).toBe(400)
    }
  })
})

describe('action=find-by-phone', () => {
  it('returns the contact as GET /contact does', async () => {
    const { status, body } = await find({ chatNumber: `+${CUSTOMER}` })
    expect(status).toBe(200)
    const answer = await request('GET', `/contact?phone_number=${CUSTOMER}`, { key: organization.key })
    expect(body).toEqual(answer.body)
    expect(body.contact).toMatchObject({ id: contactId, full_name: 'Ada', chat_id: CUSTOMER })
  })

  it('requires chatNumber', async () => {
    const queries: Record<string, string>[] = [{}, { chatNumber: '' }, { contactId }]
    for (const query of queries) {
      const { status, body } = await find(query)
      expect([status, body.error]).toEqual([400, 'Missing required parameter'])
      expect(body.message).toContain('chatNumber')
    }
  })
})

describe('GET /conversations returns 400', () => {
  it('and names the missing parameters', async () => {
    const queries: Record<string, string>[] = [
      {},
      { action: 'conversation-messages' },
      { page: '2' },
      { chatNumber: '' },
      { query: 'x', orderId: '1' },
    ]
    for (const query of queries) {
      const { status, body } = await read(query)
      expect(status).toBe(400)
      expect(body).toEqual({
        success: false,
        error: 'Missing required parameter',
        message: 'chatNumber (or contactId) query parameter is required',
      })
    }
  })

  it.each([
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', 'ten'],
    ['limit', '1e1'],
    ['page', '0'],
    ['page', '-1'],
    ['page', '10000001'],
    ['page', '99999999999999999999'],
    ['page', 'NaN'],
    ['ascending', 'yes'],
    ['ascending', '1'],
    ['ascending', 'TRUE'],
    ['action', 'nonsense'],
    ['action', 'Contacts'],
    ['contactId', 'not-a-uuid'],
    ['contactId', `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(13)}`],
    ['chatNumber', '12'],
    ['chatNumber', 'Ada'],
    ['chatNumber', '9'.repeat(101)],
    ['chatNumber', '5511\x00999990001'],
  ])('for %s=%s', async (name, value) => {
    const { status, body } = await read({ chatNumber: CUSTOMER, [name]: value })
    expect(status).toBe(400)
    expect(body).toMatchObject({ success: false, error: 'Invalid parameter' })
    expect(body.message).toMatch(new RegExp(`^${name} `))
  })

  it('never for empty parameters, which count as not given', async () => {
    const empty = { limit: '', page: '', ascending: '', action: '', contactId: '', query: '', search: '', orderId: '' }
    const { status, body } = await read({ ...empty, chatNumber: CUSTOMER, tenantId: '' })
    expect([status, body]).toEqual([200, (await read({ chatNumber: CUSTOMER })).body])
    expect((await read({ ...empty, chatNumber: '' })).body.error).toBe('Missing required parameter')
  })

  it('and names the allowed range and actions', async () => {
    expect((await read({ chatNumber: CUSTOMER, limit: '101' })).body.message).toContain('from 1 to 100')
    expect((await read({ chatNumber: CUSTOMER, page: '0' })).body.message).toContain('from 1 to 10000000')
    expect((await read({ action: 'x' })).body.message).toContain('find-by-phone')
  })

  it.each(['chatNumber', 'contactId', 'limit', 'page', 'ascending', 'action', 'query', 'search', 'orderId'])(
    'for %s given twice',
    async (name) => {
      const value = { limit: '5', page: '1', ascending: 'true', action: 'contacts', contactId }[name] ?? CUSTOMER
      const twice = `chatNumber=${CUSTOMER}&${name}=${value}&${name}=${value}`
      const { status, body } = await request('GET', `/conversations?${twice}`, { key: organization.key })
      expect([status, body.error]).toEqual([400, 'Invalid parameter'])
      expect(body.message).toMatch(new RegExp(`^${name} is given \\d times`))
    },
  )

  it('unless the values are at the limits or the parameter is unknown', async () => {
    const queries: Record<string, string>[] = [
      ...[{ limit: '1' }, { limit: '100' }],
      ...[{ page: '10000000' }, { ascending: 'false' }, { unknown: 'x' }],
    ]
    for (const query of queries) {
      expect((await read({ chatNumber: CUSTOMER, ...query })).status).toBe(200)
    }
  })
})

describe('GET /conversations returns 401, 403 and 404', () => {
  it.each(['', 'action=contacts', 'action=find-by-phone'])('without a valid bearer token (%s)', async (query) => {
    const { status, body } = await request('GET', `/conversations?chatNumber=${CUSTOMER}&${query}`)
    expect(status).toBe(401)
    expect(body).toMatchObject({ success: false, error: 'Authorization required' })
  })

  it('without the scope', async () => {
    const path = `/organizations/${organization.id}/keys`
    const issued = await world.admin('POST', path, { name: 'sender', scopes: ['messages:send'] })
    const key = issued.body.api_key.key
    for (const action of [...ACTIONS, 'contacts']) {
      const { status, body } = await read({ action, chatNumber: CUSTOMER }, { ...organization, key })
      expect([status, body.error]).toEqual([403, 'Insufficient scope'])
    }
  })

  it('for a deleted organization and for another tenantId', async () => {
    const gone = await world.createOrganization()
    await world.admin('DELETE', `/organizations/${gone.id}`)
    for (const action of [...ACTIONS, 'contacts']) {
      const answer = await read({ action, chatNumber: CUSTOMER }, gone)
      expect([answer.status, answer.body.error]).toEqual([404, 'Organization not found'])
      const foreign = await read({ action, chatNumber: CUSTOMER, tenantId: gone.slug })
      expect([foreign.status, foreign.body.error]).toEqual([401, 'Invalid API key'])
    }
  })
})
