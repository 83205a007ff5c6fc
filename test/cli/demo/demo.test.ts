import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../../simulator/index.js'
import { type App, startApp } from '../../../src/app.js'
import { type Demo, ensureDemo } from '../../../src/cli/demo/demo.js'
import { readConfig } from '../../../src/config/read.js'
import { makeFolder } from '../../support/cli.js'
import { createTestDatabase, forAllPurposes, type TestDatabase } from '../../support/database.js'

const adminToken = 'admin-token-of-the-tests'
const ORDER_SEARCH = '/conversations?chatNumber=5511900001234&orderId=450789469'

let database: TestDatabase
let simulator: Simulator
let app: App
let folder: Awaited<ReturnType<typeof makeFolder>>

beforeAll(async () => {
  database = await createTestDatabase()
  simulator = await startSimulator({ controlToken: adminToken })
  const read = readConfig({
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: 'sandbox',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  })
  if (!read.ok) throw new Error(read.problem)
  app = await startApp({
    config: read.config,
    secrets: { adminToken, masterKeys: ['master-key-of-the-tests'] },
    log: pino({ level: 'silent' }),
    databases: forAllPurposes(database),
    upstreamUrl: simulator.upstreamUrl,
    simulator: { controlUrl: `${simulator.url}/_sim`, token: adminToken, passesOn: true },
  })
  folder = await makeFolder()
})

afterAll(async () => {
  await app.close()
  await simulator.close()
  await database.drop()
  await folder.remove()
})

beforeEach(async () => {
  for (const { id } of (await admin('GET', '/organizations')).organizations)
    await admin('DELETE', `/organizations/${id}`)
  await rm(join(folder.path, 'demo.json'), { force: true })
})

describe('ensureDemo', () => {
  it('creates an organization with contacts and a conversation', async () => {
    const { organization, apiKey } = await makeDemo()
    expect(organization).toEqual({ name: 'Demo shop', slug: 'demo' })
    const { organizations } = await admin('GET', '/organizations')
    expect(organizations).toMatchObject([{ slug: 'demo', provider: 'upstream', default_country: 'BR' }])
    for (const number of ['5511900001234', '5521900005678', '393400001234']) {
      expect(await call('GET', `/contact?chat_id=${number}`, apiKey)).toMatchObject({ contact: { tags: ['demo'] } })
    }
    await expectConversation(apiKey)
  })

  it('keeps its key where only this user can read it, and returns the same key again', async () => {
    const { apiKey } = await makeDemo()
    const path = join(folder.path, 'demo.json')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ api_key: apiKey, finished: true })
    expect((await makeDemo()).apiKey).toBe(apiKey)
    await expectConversation(apiKey)
  })

  it('creates an owner without a password, once, and a sign-in link at every start', async () => {
    const first = await makeDemo()
    const second = await makeDemo()
    expect(second.signInUrl).not.toBe(first.signInUrl)
    const [{ id }] = (await admin('GET', '/organizations')).organizations
    const { members } = await admin('GET', `/organizations/${id}/members`)
    expect(members).toMatchObject([
      { email: 'owner@demo.example', full_name: 'Demo Owner', role: 'owner', has_password: false },
    ])
    expect(first.signInUrl).toContain('/console/sign-in#')
  })

  it('leaves a team that was changed alone', async () => {
    await makeDemo()
    const [{ id }] = (await admin('GET', '/organizations')).organizations
    const path = `/organizations/${id}/members`
    const [made] = (await admin('GET', path)).members
    await admin('POST', path, { email: 'ana@example.com', full_name: 'Ana', role: 'owner' })
    await admin('DELETE', `/members/${made.id}`)
    await makeDemo()
    expect((await admin('GET', path)).members).toMatchObject([{ email: 'ana@example.com' }])
  })

  it.each([
    ['lost', () => rm(join(folder.path, 'demo.json'))],
    ['damaged', () => writeFile(join(folder.path, 'demo.json'), '{"api_key":')],
  ])('issues a new key if the file is %s, and creates nothing twice', async (_how, harm) => {
    const first = await makeDemo()
    await harm()
    const second = await makeDemo()
    expect(second.apiKey).not.toBe(first.apiKey)
    await expectConversation(second.apiKey)
    expect((await admin('GET', '/organizations')).organizations).toHaveLength(1)
  })

  it('connects the storefront of the sandbox, with the order that the conversation mentions', async () => {
    const { apiKey } = await makeDemo()
    const { messages, searchTerms } = await call('GET', ORDER_SEARCH, apiKey)
    expect(searchTerms).toEqual(['1001', '#1001'])
    expect(messages).toMatchObject([{ message: 'And has my order #1001 been sent already?' }])
  })

  it("follows the sandbox's storefront to its address after the next start", async () => {
    const { apiKey } = await makeDemo()
    const [organization] = (await admin('GET', '/organizations')).organizations
    const path = `/organizations/${organization.id}/storefront`
    await admin('PUT', path, { url: 'http://127.0.0.1:9/shop', access_token: 'gone', webhook_secret: 'gone' })
    await makeDemo()
    expect(await admin('GET', path)).toMatchObject({ storefront: { url: simulator.storefrontUrl } })
    expect(await call('GET', ORDER_SEARCH, apiKey)).toMatchObject({ count: 1 })
  })

  it('keeps a storefront that the user connected', async () => {
    await makeDemo()
    const [organization] = (await admin('GET', '/organizations')).organizations
    const path = `/organizations/${organization.id}/storefront`
    const mine = { url: 'https://shop.example/shop', access_token: 'mine', webhook_secret: 'mine' }
    await admin('PUT', path, mine)
    await makeDemo()
    expect(await admin('GET', path)).toMatchObject({ storefront: { url: mine.url } })
  })

  it('issues a new key if the old one was revoked', async () => {
    const { apiKey } = await makeDemo()
    const [organization] = (await admin('GET', '/organizations')).organizations
    const [key] = (await admin('GET', `/organizations/${organization.id}/keys`)).api_keys
    await admin('DELETE', `/keys/${key.id}`)
    const next = await makeDemo()
    expect(next.apiKey).not.toBe(apiKey)
    await expectConversation(next.apiKey)
  })

  it('keeps what the user did with a finished demo', async () => {
    const { apiKey } = await makeDemo()
    const [organization] = (await admin('GET', '/organizations')).organizations
    await admin('PATCH', `/organizations/${organization.id}`, { slug: 'mine', name: 'Mine' })
    await call('DELETE', '/contact?chat_id=5511900001234', apiKey)
    expect(await makeDemo()).toMatchObject({ organization: { name: 'Mine', slug: 'mine' }, apiKey })
    expect(await call('GET', '/contact?chat_id=5511900001234', apiKey)).toMatchObject({ error: 'Contact not found' })
  })

  it('is completed by the next start, wherever the previous one was interrupted', async () => {
    let cuts = 0
    // Each start gets one answer further than the previous one, if none is repeated.
    for (let cut = true; cut && cuts < 100; cuts++) {
      cut = await makeDemoCutOffAfter(cuts).then(
        () => false,
        () => true,
      )
    }
    expect(cuts).toBeGreaterThan(10)
    expect(cuts).toBeLessThan(100)
    const demo = await makeDemo()
    await expectConversation(demo.apiKey)
    const { organizations } = await admin('GET', '/organizations')
    expect(organizations).toHaveLength(1)
    const { api_keys: keys } = await admin('GET', `/organizations/${organizations[0].id}/keys`)
    expect(keys.filter(({ revoked_at }: { revoked_at: string | null }) => revoked_at === null)).toHaveLength(1)
  })
})

function makeDemo(url = app.url): Promise<Demo> {
  const { storefrontUrl } = simulator
  return ensureDemo({ url, adminToken, dataDir: folder.path, storefrontUrl, signal: new AbortController().signal })
}

/**
 * Creates the demo through a connection that breaks after `answers` answers: the next request is executed, but its
 * answer is lost.
 */
async function makeDemoCutOffAfter(answers: number): Promise<Demo> {
  let answered = 0
  const proxy = await listen(
    createServer((incoming, outgoing) => {
      const { method, headers } = incoming
      const passedOn = request(`${app.url}${incoming.url}`, { method, headers }, (answer) => {
        if (++answered > answers) incoming.socket.destroy()
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
      incoming.pipe(passedOn)
    }),
  )
  try {
    return await makeDemo(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
}

async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function expectConversation(apiKey: string): Promise<void> {
  const ana = await call('GET', '/conversations?chatNumber=5511900001234&limit=100&ascending=true', apiKey)
  const [hello, , pickUp] = ana.messages
  expect(ana.messages).toMatchObject([
    { sender_type: 'user-chat', message: 'Hi! Do you have the blue dress in size M?', reactions: [] },
    { sender_type: 'bot-chat', message: 'Hi Ana! Yes, two are left. Shall we keep one for you?', reactions: [] },
    { sender_type: 'user-chat', message: 'Please do. Can I pick it up on Saturday?', reactions: [] },
    { sender_type: 'bot-chat', context_message_id: pickUp.message_id, reactions: [{ emoji: '❤️' }] },
    { sender_type: 'user-chat', message: 'And has my order #1001 been sent already?' },
  ])
  expect(hello.message_id).not.toBe(pickUp.message_id)
  const bruno = await call('GET', '/conversations?chatNumber=5521900005678', apiKey)
  expect(bruno.messages).toMatchObject([{ sender_type: 'user-chat' }])
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
async function call(method: string, path: string, token: string, body?: object): Promise<any> {
  const response = await fetch(`${app.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
  })
  return response.json()
}

function admin(method: string, path: string, body?: object) {
  return call(method, `/admin${path}`, adminToken, body)
}
