import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import {
  type Answering,
  bare,
  type HttpServer,
  hangUp,
  json,
  readForm,
  startHttpServer,
} from '../../../support/http-server.js'
import { jpeg, png } from '../../../support/media.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { mediaRows } from '../../../support/rows/media.js'
import { type Answer, startWorld, type TestOrganization, type World } from '../../../support/world.js'

const NUMBER = '16505580001'

let folder: string
let files: HttpServer
let world: World
let request: World['request']
let organization: TestOrganization

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-media-'))
  files = await startHttpServer((_asked, response) => void response.end(png()))
})

afterAll(async () => {
  await files.close()
  await rm(folder, { recursive: true })
})

async function openWorld(env: Record<string, string> = {}): Promise<void> {
  world = await startWorld({ PARLEY_DATA_DIR: folder, ...env })
  request = requestAsDescribed(world)
}

async function newOrganization(): Promise<void> {
  organization = await world.createOrganization()
  await createContact(world, organization, `+${NUMBER}`)
  files.taken.length = 0
}

/** Sends an image. `fields` are added to the body. */
const send = (fields: object = {}, headers: Record<string, string> = {}) => {
  const image = { phone_number: NUMBER, message_type: 'image', media_url: `${files.url}/a.png` }
  return request('POST', '/send-chat', { key: organization.key, headers, body: { ...image, ...fields } })
}

function expectUploadFailure({ status, body }: Answer, details: unknown, upstreamCode?: number): void {
  expect(body).toEqual({
    success: false,
    error: 'Upstream upload failed',
    message: 'Failed to upload media to upstream',
    details,
    ...(upstreamCode === undefined ? {} : { upstream_code: upstreamCode }),
  })
  expect(status).toBe(500)
}

const messagesShown = async () => (await conversation(world, organization, NUMBER)).body.messages

async function expectNothingLeft(): Promise<void> {
  expect(await messagesShown()).toEqual([])
  expect(await mediaRows(world, organization)).toEqual([])
  const left = await readdir(folder, { recursive: true })
  expect(left.filter((path) => /^spool.|\.unfinished./.test(path) || path.includes(organization.id))).toEqual([])
}

describe('POST /send-chat returns 500 Upstream upload failed', () => {
  beforeAll(() => openWorld())
  beforeEach(() => newOrganization())
  afterEach(() => world.sim('POST', '/reset', {}))
  afterAll(() => world.close())

  const simulated = async () => ({
    media: (await world.sim('GET', '/media')).body.media,
    messages: (await world.sim('GET', '/messages')).body.messages,
  })

  it('if the upstream keeps failing, and nothing is recorded or sent, and the Idempotency-Key is free again', async () => {
    await world.sim('POST', '/settings', { upload_fails: 1 })
    expectUploadFailure(await send({}, { 'idempotency-key': 'upload' }), expect.stringMatching(/./), 131000)
    await expectNothingLeft()
    expect(await simulated()).toEqual({ media: [], messages: [] })

    await world.sim('POST', '/settings', { upload_fails: 0 })
    const again = await send({}, { 'idempotency-key': 'upload' })
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    expect(await messagesShown()).toHaveLength(1)
  })

  it('if the access token is wrong', async () => {
    await world.sim('PUT', `/numbers/${organization.phoneNumberId}`, {
      app_secret: organization.appSecret,
      callback_url: `${world.app.url}/hooks/upstream`,
      access_token: 'another-token',
    })
    expectUploadFailure(await send({}, { 'idempotency-key': 'token' }), expect.stringMatching(/token/i), 190)
    await expectNothingLeft()
    expect(await simulated()).toEqual({ media: [], messages: [] })
  })

  it('for the header file of an interactive message as well', async () => {
    await world.sim('POST', '/settings', { upload_fails: 1 })
    const interactive = {
      type: 'button',
      body: 'Well?',
      buttons: [{ id: 'yes', title: 'Yes' }],
      header_media: { type: 'image', url: `${files.url}/a.png` },
    }
    const answer = await send({ message_type: 'interactive', media_url: undefined, interactive })
    expectUploadFailure(answer, expect.stringMatching(/./), 131000)
    await expectNothingLeft()
  })
})

describe('POST /send-chat to an upstream that', () => {
  let upstream: HttpServer
  /** The upstream's answers to consecutive uploads; further ones succeed. */
  let uploads: Answering[]

  beforeAll(async () => {
    upstream = await startHttpServer((asked, response) => {
      if (!asked.pathname.endsWith('/media')) {
        const answer = { messages: [{ id: `wamid.${randomUUID()}` }], contacts: [{ input: NUMBER, wa_id: NUMBER }] }
        return json(200, { messaging_product: 'whatsapp', ...answer })(asked, response)
      }
      const answer = uploads.shift() ?? json(200, { id: '4711' })
      answer(asked, response)
    })
    await openWorld({ PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` })
  })

  beforeEach(async () => {
    await newOrganization()
    upstream.taken.length = 0
  })

  afterAll(async () => {
    await world.close()
    await upstream.close()
  })

  const error = (status: number, code: number, headers?: Record<string, string>) =>
    json(status, { error: { code, message: `(#${code}) so it is` } }, headers)

  it.each([
    ['fails with 131016', error(500, 131016)],
    ['fails with 130429', error(400, 130429)],
    ['fails without a reason', bare(503)],
    ['hangs up', hangUp],
  ])('%s once uploads the file again, and sends the message once', async (_how, answer) => {
    uploads = [answer]
    expect((await send()).status).toBe(200)
    const [first, second, third, ...more] = upstream.taken
    expect([first, second, third].map((call) => call?.pathname.split('/').at(-1))).toEqual([
      'media',
      'media',
      'messages',
    ])
    expect(more).toEqual([])
    for (const call of upstream.taken.slice(0, 2)) {
      const { file } = await readForm(call)
      if (typeof file === 'string' || !file) throw new Error('there is no file in the form')
      expect(file.type).toBe('image/png')
      expect(Buffer.from(await file.arrayBuffer())).toEqual(png())
    }
    expect(await messagesShown()).toHaveLength(1)
    expect(files.taken).toHaveLength(1)
  })

  it.each([
    ['refuses the file', [error(400, 131053)], '(#131053) so it is', 131053],
    ['refuses the token', [error(401, 190)], '(#190) so it is', 190],
    ['refuses without a reason', [bare(403)], expect.stringMatching(/403/), 403],
    ['is not found', [bare(404)], expect.stringMatching(/404/), 404],
    ['gives no id', [json(200, {})], expect.stringMatching(/without a media id/), undefined],
    ['gives no JSON', [bare(200)], expect.stringMatching(/without a media id/), undefined],
    ['fails three times', [bare(500), bare(502), bare(503)], expect.stringMatching(/503/), undefined],
    ['hangs up three times', [hangUp, hangUp, hangUp], expect.stringMatching(/^no answer: /), undefined],
  ])('%s returns 500 Upstream upload failed', async (_how, answers, details, code) => {
    uploads = [...answers]
    expectUploadFailure(await send(), details, code)
    expect(upstream.taken.map(({ pathname }) => pathname.split('/').at(-1))).toEqual(answers.map(() => 'media'))
    await expectNothingLeft()
  })
})

describe('POST /send-chat reports before it fetches the file', () => {
  beforeAll(() => openWorld())
  beforeEach(() => newOrganization())
  afterEach(() => expect(files.taken).toEqual([]))
  afterAll(() => world.close())

  it('an organization without a provider', async () => {
    const made = await world.admin('POST', '/organizations', { name: 'New', slug: `new-${randomUUID().slice(0, 8)}` })
    const { id } = made.body.organization
    const issued = await world.admin('POST', `/organizations/${id}/keys`, { name: 'test' })
    const body = { phone_number: NUMBER, message_type: 'image', media_url: `${files.url}/a.png` }
    const answer = await request('POST', '/send-chat', { key: issued.body.api_key.key, body })
    expect(answer.body.error).toBe('Invalid provider')
  })

  it('an unknown contact', async () => {
    const answer = await send({ phone_number: '16505589999' })
    expect(answer.status).toBe(404)
    expect(answer.body.error).toBe('Contact not found')
  })

  it('a blocked contact', async () => {
    await request('PATCH', `/contact?chat_id=${NUMBER}`, { key: organization.key, body: { blocked: true } })
    const answer = await send()
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('Contact blocked')
  })

  it('an unknown message to reply to', async () => {
    const answer = await send({ context_message_id: randomUUID() })
    expect(answer.status).toBe(404)
    expect(answer.body.error).toBe('Message not found')
  })

  it('an unknown member', async () => {
    const answer = await send({ memberId: randomUUID() })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('Invalid field')
  })

  it('a caption that is too long', async () => {
    const answer = await send({ caption: 'x'.repeat(1_025) })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('Invalid field')
  })
})

describe('a change while the file is being fetched or uploaded', () => {
  let slow: HttpServer
  let whileFetched: () => Promise<unknown>

  beforeAll(async () => {
    await openWorld()
    slow = await startHttpServer(async (_asked, response) => {
      await whileFetched()
      response.end(jpeg())
    })
  })
  beforeEach(() => newOrganization())
  afterAll(async () => {
    await world.close()
    await slow.close()
  })

  it('prevents the send if the contact is blocked', async () => {
    whileFetched = () =>
      request('PATCH', `/contact?chat_id=${NUMBER}`, { key: organization.key, body: { blocked: true } })
    const answer = await send({ media_url: slow.url })
    expect(answer.body.error).toBe('Contact blocked')
    expect(await messagesShown()).toEqual([])
    expect((await world.sim('GET', '/messages')).body.messages).toEqual([])
  })

  it('makes a second request with the same Idempotency-Key report that the first is in progress', async () => {
    const headers = { 'idempotency-key': 'slow' }
    let second: Answer | undefined
    whileFetched = async () => {
      second = await send({ media_url: slow.url }, headers)
    }
    const first = await send({ media_url: slow.url }, headers)
    expect(first.status).toBe(200)
    expect(second?.status).toBe(409)
    expect(slow.taken).toHaveLength(2)
  })
})

describe('a failing media store', () => {
  let ownFolder: string

  beforeAll(async () => {
    ownFolder = await mkdtemp(join(tmpdir(), 'parley-media-'))
    await openWorld({ PARLEY_DATA_DIR: ownFolder })
  })
  beforeEach(() => newOrganization())
  afterAll(async () => {
    await world.close()
    await rm(ownFolder, { recursive: true })
  })

  it('prevents the send, and frees the Idempotency-Key', async () => {
    // A file in the place of the folder.
    await writeFile(join(ownFolder, 'media'), '')
    const failed = await send({}, { 'idempotency-key': 'store' })
    expect(failed.status).toBe(503)
    expect(failed.body).toMatchObject({ error: 'Service unavailable', retry_after: 5 })
    expect(await messagesShown()).toEqual([])
    expect((await world.sim('GET', '/messages')).body.messages).toEqual([])
    expect(await readdir(join(ownFolder, 'spool'))).toEqual([])

    await rm(join(ownFolder, 'media'))
    const again = await send({}, { 'idempotency-key': 'store' })
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
  })
})
