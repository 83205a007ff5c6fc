import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations, requestIndexes, textsOf } from '../../support/conversations.js'
import { type HttpServer, json, startHttpServer } from '../../support/http-server.js'
import { requestAsDescribed } from '../../support/openapi.js'
import { startWorld, type TestOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '5511988887777'
const TOKEN = 'shpat_token-that-nobody-sees'
const TEXTS = ['pedido 1001 saiu?', 'o 10010 também', 'e o #1001', 'qual? #10010', 'n°1001.', 'pix feito']
const HOLDING = ['pedido 1001 saiu?', 'e o #1001', 'n°1001.']

let logged = ''
const lines = new Writable({
  write: (chunk, _encoding, done) => {
    logged += chunk
    done()
  },
})
const world = useWorld({}, pino({ level: 'trace' }, lines))
const request = requestAsDescribed(world)
let organization: TestOrganization
let orderId: string

beforeAll(async () => {
  organization = await newShop()
  const contactId = await createContact(world, organization, `+${CUSTOMER}`)
  await insertMessages(world, contactId, TEXTS)
})

beforeEach(async () => {
  await world.sim('POST', '/reset', {})
  const placed = await world.sim('POST', '/shop/orders', { order_number: 1001 })
  orderId = String(placed.body.order.id)
})

/** An organization whose storefront is the simulator's, or the one at the given address. */
async function newShop(fields: Record<string, string> = {}): Promise<TestOrganization> {
  const made = await world.createOrganization()
  await connect(made, fields)
  return made
}

async function connect({ id }: TestOrganization, fields: Record<string, string> = {}): Promise<void> {
  const settings = { url: world.simulator.storefrontUrl, access_token: TOKEN, webhook_secret: 'w', ...fields }
  const { status } = await world.admin('PUT', `/organizations/${id}/storefront`, settings)
  expect(status).toBe(200)
}

async function read(query: Record<string, string>, owner = organization) {
  const answer = await readConversations({ request }, owner, { chatNumber: CUSTOMER, ascending: 'true', ...query })
  expect(JSON.stringify(answer.body)).not.toContain(TOKEN)
  expect(logged).not.toContain(TOKEN)
  expect(logged).not.toBe('')
  return answer
}

/** A person who is also a customer of that organization. */
async function customerOf(owner: TestOrganization, ...texts: string[]): Promise<void> {
  await insertMessages(world, await createContact(world, owner, `+${CUSTOMER}`), texts)
}

describe('orderId', () => {
  it.each([
    ['GraphQL', true],
    ['REST', false],
  ])('finds messages with the number or the name of the order as a whole word (%s)', async (_name, shop_graphql) => {
    await world.sim('POST', '/settings', { shop_graphql })
    for (const id of [orderId, `gid://shopify/Order/${orderId}`]) {
      const answer = await read({ orderId: id })
      expect(answer.status).toBe(200)
      expect(textsOf(answer)).toEqual(HOLDING)
      expect(answer.body).toMatchObject({
        searchTerms: ['1001', '#1001'],
        filtered: true,
        stored: true,
        pagination: { totalMessages: 3 },
      })
    }
  })

  it('finds the same in indexed messages', async () => {
    const owner = await newShop()
    await customerOf(owner, ...TEXTS)
    await requestIndexes(world, owner.id)
    await world.drain()
    expect(textsOf(await read({ orderId }, owner))).toEqual(HOLDING)
  })

  it('adds its terms after those of the query', async () => {
    const answer = await read({ orderId, query: ' pix , também' })
    expect(textsOf(answer)).toEqual([HOLDING[0], 'o 10010 também', ...HOLDING.slice(1), 'pix feito'])
    expect(answer.body.searchTerms).toEqual(['pix', 'também', '1001', '#1001'])
  })

  it('finds a name with prefix and suffix in any case', async () => {
    const owner = await newShop()
    await customerOf(owner, 'meu lj-77.br?', 'LJ-77xbr', '77', '770')
    const placed = await world.sim('POST', '/shop/orders', { order_number: 77, name: 'LJ-77.BR' })
    const answer = await read({ orderId: String(placed.body.order.id) }, owner)
    expect(textsOf(answer)).toEqual(['meu lj-77.br?', 'LJ-77xbr', '77'])
    expect(answer.body.searchTerms).toEqual(['77', 'LJ-77.BR'])
  })

  it('is ignored if it is empty', async () => {
    const answer = await read({ orderId: '' })
    expect(answer.body).toMatchObject({ count: TEXTS.length, searchTerms: null, filtered: false })
  })

  it('is accepted together with 20 query terms', async () => {
    const query = Array.from({ length: 20 }, (_, number) => `term ${number}`).join(',')
    const { status, body } = await read({ orderId, query })
    expect([status, body.searchTerms.length, body.count]).toEqual([200, 22, 3])
  })
})

describe('orderId is refused', () => {
  it.each([
    '#1001',
    'abc',
    '-1',
    '1.5',
    ' ',
    '1'.repeat(21),
    'gid://shopify/Customer/1',
    'gid://shopify/Order/',
    'x'.repeat(101),
  ])('as a parameter: %s', async (id) => {
    const { status, body } = await read({ orderId: id })
    expect([status, body.error]).toEqual([400, 'Invalid parameter'])
    expect(body.message).toMatch(/^orderId /)
  })

  it('if the shop has no such order', async () => {
    for (const shop_graphql of [true, false]) {
      await world.sim('POST', '/settings', { shop_graphql })
      const { status, body } = await read({ orderId: '999' })
      expect([status, body.error]).toEqual([404, 'Order not found'])
      expect(body.message).toContain('999')
    }
  })

  it("if there is no storefront, even if another organization's has the order", async () => {
    const owner = await world.createOrganization()
    await customerOf(owner, ...TEXTS)
    const { status, body } = await read({ orderId }, owner)
    expect([status, body.error]).toEqual([400, 'Storefront not connected'])
    expect(body.message).toContain(owner.name)
  })

  it('if the storefront refuses the token', async () => {
    const owner = await newShop({ access_token: 'refused-token' })
    await customerOf(owner)
    const { status, body } = await read({ orderId }, owner)
    expect([status, body.error]).toEqual([400, 'Storefront credentials rejected'])
    expect(body.details).toContain('401')
  })

  it('if the storefront is down, as a temporary error', async () => {
    await world.sim('POST', '/settings', { shop_answers: 'down' })
    const { status, body } = await read({ orderId })
    expect(status).toBe(500)
    expect(body).toMatchObject({
      error: 'Storefront unavailable',
      retryable: true,
      details: expect.stringContaining('503'),
    })
  })

  it.each([true, false])(
    "if the storefront's limit is reached, with the time to wait (GraphQL: %s)",
    async (shop_graphql) => {
      await world.sim('POST', '/settings', { shop_answers: 'limited', shop_graphql })
      const { status, headers, body } = await read({ orderId })
      expect([status, body.error]).toEqual([429, 'Too many requests'])
      expect(body.retry_after).toBeGreaterThanOrEqual(1)
      expect(headers.get('retry-after')).toBe(String(body.retry_after))
    },
  )

  it('for an unknown contact', async () => {
    const { status, body } = await read({ orderId, chatNumber: '5511977776666' })
    expect([status, body.error]).toEqual([404, 'Contact not found'])
  })
})

describe('the storefront that is asked', () => {
  const shops: HttpServer[] = []

  afterAll(async () => {
    for (const shop of shops) await shop.close()
  })

  async function newServer(name: string): Promise<HttpServer> {
    const server = await startHttpServer(json(200, { data: { order: { number: 5, name } } }))
    shops.push(server)
    return server
  }

  it("is the organization's own, with its own token", async () => {
    const servers = [await newServer('one'), await newServer('two')]
    for (const [index, { url }] of servers.entries()) {
      const owner = await newShop({ url, access_token: `token-${index}` })
      await customerOf(owner)
      expect((await read({ orderId: '5' }, owner)).body.searchTerms).toEqual(['5', ['one', 'two'][index]])
      expect(servers.map(({ taken }) => taken.length)).toEqual(index === 0 ? [1, 0] : [1, 1])
      expect(servers[index]?.taken[0]?.headers['x-shopify-access-token']).toBe(`token-${index}`)
    }
  })

  it('is the currently connected one', async () => {
    const [before, after] = [await newServer('before'), await newServer('after')]
    const owner = await newShop({ url: before.url })
    await customerOf(owner)
    await connect(owner, { url: after.url })
    expect((await read({ orderId: '5' }, owner)).body.searchTerms).toEqual(['5', 'after'])
    expect(before.taken).toEqual([])
  })

  it('must not have a private address, unless it is allowed', async () => {
    const shop = await newServer('private')
    const strict = await startWorld({ PARLEY_ALLOWED_PRIVATE_HOSTS: '' })
    try {
      const owner = await strict.createOrganization()
      const settings = { url: shop.url, access_token: TOKEN, webhook_secret: 'w' }
      await strict.admin('PUT', `/organizations/${owner.id}/storefront`, settings)
      await createContact(strict, owner, `+${CUSTOMER}`)
      const { status, body } = await readConversations(strict, owner, { chatNumber: CUSTOMER, orderId: '5' })
      expect(status).toBe(500)
      expect(body).toMatchObject({
        error: 'Storefront unavailable',
        retryable: true,
        details: expect.stringContaining('private'),
      })
      expect(shop.taken).toEqual([])
    } finally {
      await strict.close()
    }
  })
})
