import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import {
  compileScriptedLibrary,
  type Incoming,
  type ScriptedNetwork,
  startScriptedNetwork,
} from '../support/scripted-device/network.js'
import type { Answer, TestOrganization } from '../support/world.js'
import { endPrograms } from './support/programs.js'
import {
  createOrganization,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  succeed,
  urlOf,
} from './support/service.js'
import { readConversation } from './support/traffic.js'

const NAMES = ['north', 'east', 'south', 'west']
const NUMBERS = NAMES.map((_, index) => `551196040${1_001 + index}`)
const PERSON = '5511960409001'

let database: TestDatabase
let sandbox: Sandbox
let network: ScriptedNetwork
let library: Awaited<ReturnType<typeof compileScriptedLibrary>>
let one: Service
let other: Service
let organization: TestOrganization
let sent = 0
/** Texts that were answered with a 201. */
const accepted: string[] = []
/** What people have written to the instances. */
const told: Incoming[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  network = await startScriptedNetwork()
  library = await compileScriptedLibrary()
  one = await start()
  other = await start()
  organization = await createOrganization(one)
})

afterAll(async () => {
  await endPrograms()
  await network?.close()
  await library?.remove()
  await database?.drop()
})

describe('linked devices of two processes', () => {
  it('are each connected once, by one of them', async () => {
    for (const [index, name] of NAMES.entries())
      await link([one, other][index % 2] as Service, name, NUMBERS[index] ?? '')
    for (const service of [one, other]) {
      for (const name of NAMES) {
        const { body } = await gateway(service, 'GET', `/instance/connectionState/${name}`)
        expect(body).toMatchObject({ instance: { instanceName: name, state: 'open' } })
      }
    }
    expect(holders().map(({ number }) => number)).toEqual(NUMBERS)
    expect(new Set(holders().map(({ pid }) => pid))).toEqual(new Set([one.program.pid, other.program.pid]))
    for (const number of NUMBERS) expect(network.countConnections(number)).toBe(1)
  })

  it('send a message once, whichever process is asked', async () => {
    await Promise.all(
      NAMES.flatMap((name) => [one, other].flatMap((service) => [send(service, name), send(service, name)])),
    )
    expect(accepted).toHaveLength(4 * NAMES.length)
    expectEachSentOnce()
    await tellAll()
    await untilAllTold(other)
  })

  it('move to the other process when theirs is killed, with their keys and all pending messages', async () => {
    one.program.killGroup()
    expect(await one.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
    await expect.poll(() => holders().every(({ pid }) => pid === other.program.pid)).toBe(true)
    await tellAll()
    await expect.poll(() => holders().map(({ number }) => number)).toEqual(NUMBERS)
    for (const name of NAMES) await sendUntilTaken(other, name)
    expectEachSentOnce()
    await untilAllTold(other)
  })

  it('move at once when theirs stops normally', async () => {
    one = await start()
    await expect.poll(() => holders().filter(({ pid }) => pid === one.program.pid).length).toBe(2)
    await expect.poll(() => holders().length).toBe(NAMES.length)
    other.program.kill('SIGTERM')
    await expect.poll(() => holders().filter(({ pid }) => pid === one.program.pid).length).toBe(NAMES.length)
    expect(await other.program.exited).toEqual({ code: 0, signal: null })
    for (const name of NAMES) await sendUntilTaken(one, name)
    expectEachSentOnce()
    await tellAll()
    await untilAllTold(one)
    expect(network.faults).toEqual([])
  })
})

function start(): Promise<Service> {
  return startService({
    ...sharedSecrets,
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_LINKED_DEVICE_LIBRARY: library.path,
    PARLEY_LINKED_DEVICE_URL: network.url,
  })
}

function gateway(service: Service, method: string, path: string, body?: unknown): Promise<Answer> {
  return service.request(method, `/gateway${path}`, { key: organization.key, body })
}

/** Makes an instance through one process, and scans its code. */
async function link(service: Service, name: string, number: string): Promise<void> {
  await succeed(gateway(service, 'POST', '/instance/create', { instanceName: name, integration: 'WHATSAPP-BAILEYS' }))
  const { body } = await succeed(gateway(service, 'GET', `/instance/connect/${name}`))
  network.scan(body.code, number)
  await expect
    .poll(
      async () => (await gateway(service, 'GET', `/instance/connectionState/${name}`)).body.instance.state,
      patience,
    )
    .toBe('open')
}

/** The connections of linked devices, by number. */
function holders(): { number: string; pid: number }[] {
  return network
    .connections()
    .flatMap(({ number, pid }) => (number === null ? [] : [{ number, pid }]))
    .sort((a, b) => (a.number < b.number ? -1 : 1))
}

async function send(service: Service, name: string): Promise<Answer> {
  const text = `message ${++sent}`
  const answer = await gateway(service, 'POST', `/message/sendText/${name}`, { number: PERSON, text })
  if (answer.status === 201) accepted.push(text)
  return answer
}

/** While an instance connects it takes nothing, and says so. */
async function sendUntilTaken(service: Service, name: string): Promise<void> {
  await expect
    .poll(async () => {
      const { status, body } = await send(service, name)
      if (status !== 201) expect(body).toMatchObject({ status: 500, response: { message: 'Connection Closed' } })
      return status
    })
    .toBe(201)
}

/** What was accepted was sent once, and nothing else was. */
function expectEachSentOnce(): void {
  expect(network.sends.map(({ text }) => text).sort()).toEqual([...accepted].sort())
  expect(network.faults).toEqual([])
}

/** Somebody new writes to every instance. */
async function tellAll(): Promise<void> {
  for (const number of NUMBERS) {
    const place = told.length + 1
    const incoming = { id: `IN${place}`, from: `55119604${10_100 + place}`, text: `from outside ${place}` }
    told.push(incoming)
    network.push(number, incoming)
  }
}

/** Every message from outside is in the history, once. */
async function untilAllTold(service: Service): Promise<void> {
  for (const { from, text } of told) {
    await expect
      .poll(async () => {
        const { messages } = await readConversation(service, organization, from)
        return messages.map(({ message }) => message)
      })
      .toEqual([text])
  }
}
