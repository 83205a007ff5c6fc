import { once } from 'node:events'
import { chmod, readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import { descendantsOf, stillRunning } from './support/process-table.js'
import { endPrograms, startProgram } from './support/programs.js'
import { createOrganization, makeFolder, type Service, startService, succeed, urlOf } from './support/service.js'

let folder: Awaited<ReturnType<typeof makeFolder>>
let dataDir: string
const cleanups: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  folder = await makeFolder()
  dataDir = join(folder.path, 'data')
})

afterEach(async () => {
  await endPrograms()
  for (const cleanup of cleanups.splice(0)) await cleanup()
  await folder.remove()
})

describe.each([
  ['that all may enter', 0o755],
  ['that only its user may enter', 0o700],
])('serve with the embedded database below a folder %s', (_name, mode) => {
  it('works from the first start through a clean stop to the second start', async () => {
    await chmod(folder.path, mode)
    const first = await serve()
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    expect(await first.request('GET', '/healthz')).toMatchObject({ status: 200 })
    expect(await first.request('GET', '/readyz')).toMatchObject({ status: 200 })
    expect((await stat(join(dataDir, 'secrets.json'))).mode & 0o777).toBe(0o600)

    const { key } = await createOrganization(first)
    await succeed(first.request('POST', '/contact', { key, body: { phone_number: '+5511987654321' } }))
    const sent = await sendText(first, key, '+5511987654321', 'before the end')
    expect(sent.status).toBe(200)
    await expectCleanEnd(first)

    const second = await serve()
    const { body } = await second.request('GET', '/conversations?chatNumber=5511987654321', { key })
    expect(body.messages).toMatchObject([{ message: 'before the end', message_id: sent.body.data.message_id }])
    await expectCleanEnd(second)
  })
})

describe('a machine without ffmpeg', () => {
  it('is logged once, in one line, and serve continues', async () => {
    const database = await createTestDatabase()
    cleanups.push(() => database.drop())
    const env = { ...environment(), PARLEY_DATABASE_URL: urlOf(database.connection), PATH: folder.path }
    const { program } = await startService(env)
    const told = program.errors.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes('ffmpeg'))
    expect(told).toMatchObject([{ level: 30, msg: expect.stringContaining('are refused') }])
    program.kill('SIGTERM')
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })
})

describe('SIGTERM', () => {
  it('lets a running send finish, and refuses new connections in the meantime', async () => {
    const upstream = await startHeldUpstream()
    const service = await startService({ ...environment(), PARLEY_UPSTREAM_URL: upstream.url })
    const { key } = await createOrganization(service)
    await succeed(service.request('POST', '/contact', { key, body: { phone_number: '+5511987654321' } }))
    const sending = sendText(service, key, '+5511987654321', 'slow')
    await upstream.asked

    service.program.kill('SIGTERM')
    await vi.waitFor(() => expectRefused(service.url), patience)
    upstream.release()
    expect(await sending).toMatchObject({ status: 200, body: { data: { message_id: 'wamid.held' } } })
    expect(await service.program.exited).toEqual({ code: 0, signal: null })
  })

  it('during the start ends the service too, with its database', async () => {
    const program = await startProgram(['serve'], { env: environment() })
    program.firstLine.catch(() => undefined)
    const database = await vi.waitFor(async () => {
      await stat(join(dataDir, 'postgres', 'postmaster.pid'))
      return descendantsOf(program.pid)
    }, patience)
    program.kill('SIGTERM')
    expect(await program.exited).toEqual({ code: 0, signal: null })
    expect(await stillRunning(database)).toEqual([])
  })
})

describe('a database that stops unexpectedly', () => {
  it('ends the service with one clear line, and the next start recovers', async () => {
    const service = await serve()
    const { key } = await createOrganization(service)
    const postmaster = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
    process.kill(Number.parseInt(postmaster, 10), 'SIGKILL')
    expect(await service.program.exited).toEqual({ code: 1, signal: null })
    expect(service.program.errors.filter((line) => line.startsWith('parley: '))).toEqual([
      expect.stringContaining('The embedded database ended unexpectedly'),
    ])
    const next = await serve()
    expect(await next.request('GET', '/contact?chat_id=5511987654321', { key })).toMatchObject({ status: 404 })
  })
})

function serve(): Promise<Service> {
  return startService(environment())
}

function environment(): Record<string, string> {
  return { PARLEY_DATA_DIR: dataDir, PARLEY_PORT: '0', PARLEY_UPSTREAM_URL: 'sandbox' }
}

function sendText(service: Service, key: string, phone_number: string, text: string) {
  return service.request('POST', '/send-chat', { key, body: { phone_number, message_type: 'text', text } })
}

async function expectCleanEnd({ program, url }: Service): Promise<void> {
  const database = await descendantsOf(program.pid)
  expect(database.length).toBeGreaterThan(1)
  program.kill('SIGTERM')
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect(await stillRunning(database)).toEqual([])
  expect(program.output).toEqual([`parley ready on ${url}`])
  // Not on a terminal, the log is one JSON object a line.
  for (const line of program.errors) expect(JSON.parse(line)).toHaveProperty('msg')
}

async function expectRefused(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const outcome = await Promise.race([
    once(socket, 'connect').then(() => 'connected'),
    once(socket, 'error').then(([error]) => error.code),
  ]).catch((error: NodeJS.ErrnoException) => error.code)
  socket.destroy()
  expect(outcome).toBe('ECONNREFUSED')
}

/** An upstream that answers a send only when it is released. */
async function startHeldUpstream() {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let noteAsked = () => {}
  const asked = new Promise<void>((resolve) => {
    noteAsked = resolve
  })
  const server = createServer(async ({ url = '' }, response) => {
    // The query has the proof of the app's secret.
    if (new URL(url, 'http://upstream').pathname.endsWith('/messages')) {
      noteAsked()
      await released
    }
    response.setHeader('content-type', 'application/json').end('{"messages":[{"id":"wamid.held"}]}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanups.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v23.0`, asked, release }
}
