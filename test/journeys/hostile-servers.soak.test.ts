import { readdir, readFile, readlink } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hmacSha256Hex } from '../../src/lib/crypto/signature.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { HOSTILITIES, type HostileServer, startHostileServer } from '../support/hostile-server.js'
import type { TestOrganization } from '../support/world.js'
import { endPrograms } from './support/programs.js'
import {
  createOrganization,
  makeFolder,
  type Service,
  sharedSecrets,
  startService,
  succeed,
  urlOf,
} from './support/service.js'

// PARLEY_TEST_EXCHANGES=10000 makes it a soak.
const EXCHANGES = Number(process.env.PARLEY_TEST_EXCHANGES ?? 600)
const AT_A_TIME = 16
const DIGITS = '5511970200001'

let database: TestDatabase
let folder: Awaited<ReturnType<typeof makeFolder>>
let hostile: HostileServer
let service: Service
let organization: TestOrganization

beforeAll(async () => {
  database = await createTestDatabase()
  folder = await makeFolder()
  hostile = await startHostileServer()
  service = await startService({
    ...sharedSecrets,
    PARLEY_DATA_DIR: folder.path,
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: `http://127.0.0.1:${hostile.port}/v23.0`,
    PARLEY_TRANSCRIBE_URL: `http://127.0.0.1:${hostile.port}/transcribe/hostile.any`,
    PARLEY_TRANSCRIBE_MODEL: 'model',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8',
    PARLEY_RATE_LIMIT: '0',
    PARLEY_LOG_LEVEL: 'fatal',
  })
  organization = await createOrganization(service)
  const url = `http://127.0.0.1:${hostile.port}/hostile.any`
  const shop = { url, access_token: 'token', webhook_secret: 'secret' }
  await succeed(service.admin('PUT', `/organizations/${organization.id}/storefront`, shop))
  const contact = { phone_number: `+${DIGITS}`, name: 'Ana' }
  await succeed(service.request('POST', '/contact', { key: organization.key, body: contact }))
  for (const scheme of ['http', 'https']) {
    const body = {
      url: `${scheme}://127.0.0.1:${hostile.port}/hostile.any`,
      events: ['message.sent', 'message.failed'],
    }
    await succeed(service.request('POST', '/set-webhooks', { key: organization.key, body }))
  }
})

afterAll(async () => {
  await endPrograms()
  hostile?.close()
  await database?.drop()
  await folder?.remove()
})

it('no server crashes the process, fills its memory, or blocks its connections', async () => {
  await play(EXCHANGES / 4)
  const before = await measure()
  await play(EXCHANGES)
  const after = await measure()
  process.stdout.write(`hostile servers: ${hostile.exchanges} exchanges, ${JSON.stringify({ before, after })}\n`)
  expect(service.program.errors).toEqual([])
  expect((await service.request('GET', '/readyz')).status).toBe(200)
  expect(after.sockets).toBeLessThan(before.sockets + 50)
  expect(after.megabytes).toBeLessThan(before.megabytes + 100)
})

/** Plays requests that meet each behaviour by each way out, until there were so many exchanges. */
async function play(exchanges: number): Promise<void> {
  const end = hostile.exchanges + exchanges
  let turn = 0
  const worker = async () => {
    while (hostile.exchanges < end) {
      const name = HOSTILITIES[turn % HOSTILITIES.length] ?? ''
      await oneWay(Math.floor(turn++ / HOSTILITIES.length), turn, name)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
}

/** Every answer will do: what counts is that there is one. */
async function oneWay(way: number, turn: number, name: string): Promise<void> {
  const { key } = organization
  const base = `127.0.0.1:${hostile.port}`
  const send = (body: object) =>
    service.request('POST', '/send-chat', { key, body: { phone_number: `+${DIGITS}`, ...body } })
  const ways = [
    () => send({ message_type: 'image', media_url: `http://${base}/hostile.${name}` }),
    () => send({ message_type: 'text', text: `hostile.${name}` }),
    () => send({ message_type: 'image', media_url: `https://${base}/hostile.${name}` }),
    () => service.request('GET', `/conversations?chatNumber=${DIGITS}&orderId=${turn}`, { key }),
    () => receive(turn, { type: 'image', image: { id: `hostile.${name}`, mime_type: 'image/png' } }),
    () => receive(turn, { type: 'audio', audio: { id: 'voice', mime_type: 'audio/ogg', voice: true } }),
  ]
  const answer = await ways[way % ways.length]?.()
  expect(answer?.status).toBeGreaterThanOrEqual(200)
}

function receive(turn: number, content: object) {
  const message = { id: `wamid.in-${turn}-${Math.random()}`, from: DIGITS, timestamp: '1750000000', ...content }
  const metadata = { display_phone_number: '15550001111', phone_number_id: organization.phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, messages: [message] }
  const entry = [{ id: organization.businessAccountId, changes: [{ field: 'messages', value }] }]
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry })
  const signature = `sha256=${hmacSha256Hex(organization.appSecret, body)}`
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
  return service.request('POST', '/hooks/upstream', { body, headers })
}

/** What the process holds: resident memory, and open sockets. Nothing where there is no /proc. */
async function measure(): Promise<{ megabytes: number; sockets: number }> {
  const { pid } = service.program
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const open = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')))
  return {
    megabytes: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024),
    sockets: links.filter((link) => link.startsWith('socket:')).length,
  }
}
