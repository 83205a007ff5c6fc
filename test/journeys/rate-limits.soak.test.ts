import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import type { TestOrganization } from '../support/world.js'
import { endPrograms } from './support/programs.js'
import {
  type Answer,
  createOrganization,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  urlOf,
} from './support/service.js'

const MESSAGES = 200
const PEOPLE = 20

let database: TestDatabase
let sandbox: Sandbox
let services: Service[]
let organization: TestOrganization

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox(['--limits'])
  const env = {
    ...sharedSecrets,
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
  }
  services = await Promise.all([startService(env), startService(env)])
  organization = await createOrganization(services[0] as Service)
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

describe('an upstream that enforces its limits, and two processes with the default settings of a number', () => {
  it('200 concurrent messages to 20 people are all accepted, each once', async () => {
    const people = Array.from({ length: PEOPLE }, (_, index) => `55119612${String(index).padStart(5, '0')}`)
    await Promise.all(people.map(openWindow))
    const answers = await Promise.all(
      Array.from({ length: MESSAGES }, (_, index) => send(index, people[index % PEOPLE] as string)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const taken = (await sandbox.accepted()).map(({ payload }) => payload.text.body)
    expect(taken.sort()).toEqual(answers.map((_, index) => `message ${index}`).sort())
  })
})

/** The person writes first: without it, the upstream takes nothing for that person. */
async function openWindow(from: string): Promise<void> {
  const body = { phone_number_id: organization.phoneNumberId, from, type: 'text', text: 'hi' }
  const told = await sandbox.control('POST', '/inbound', body)
  expect(told.body).toMatchObject({ success: true, delivered: true })
  await vi.waitFor(async () => {
    const found = await services[0]?.request('GET', `/contact?chat_id=${from}`, { key: organization.key })
    expect(found?.status).toBe(200)
  }, patience)
}

function send(index: number, to: string): Promise<Answer> {
  const body = { phone_number: to, message_type: 'text', text: `message ${index}` }
  return (services[index % services.length] as Service).request('POST', '/send-chat', { key: organization.key, body })
}
