import { expect } from 'vitest'
import { verifyCounters } from '../../src/core/analytics/verify.js'
import { expireOutcomes } from '../../src/core/maintenance/maintenance.js'
import { getOrganization } from '../../src/core/organizations/organizations.js'
import { receive } from './callbacks.js'
import { createContact } from './contacts.js'
import { requestAsDescribed } from './openapi.js'
import { type Answer, type RequestOptions, startWorld, type TestOrganization, type World } from './world.js'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const NO_ID = '00000000-0000-7000-8000-000000000000'

/** Samples of the simulator: one without parameters, and one with `name`, `discount` and the button's `param1`. */
export const PLAIN = 'hello_world'
export const OFFER = 'oferta_da_semana'
/** The quick replies of the second. */
export const MORE = 'Quero saber mais'
export const STOP = 'Parar'
export const OFFER_PARAMETERS = {
  bodyParameters: { name: '{{first_name}}', discount: '20%' },
  buttonParameters: { param1: 'abc' },
}

/** A request of a test; `{id}` in the path stands for the broadcast's id. */
type Ask = (method: string, path: string, options?: RequestOptions & { id?: string }) => Promise<Answer>

/** A recipient as the endpoint shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into recipients of every shape
export type Shown = any

/** A world with an organization for broadcasts, and helpers for its tests. */
export interface BroadcastWorld {
  world: World
  organization: TestOrganization
  /** Another organization. */
  other: TestOrganization
  /** Sends a request with the organization's key, and checks each answer against its description. */
  ask: Ask
  /** Digits of an unused number. */
  newNumber(): string
  /** A new contact; its id and digits. */
  newContact(fields?: object, owner?: TestOrganization): Promise<{ id: string; digits: string }>
  /** POST /broadcasts, by default of the template without parameters. */
  post(fields: object, headers?: Record<string, string>): Promise<Answer>
  /** Creates a broadcast, which must succeed; resolves to it. */
  create(fields: object): Promise<Shown>
  /** The same, and sends it. */
  send(fields: object): Promise<Shown>
  /** The current state of a broadcast. */
  read(id: string): Promise<Shown>
  /** POST /broadcasts/{id}/… */
  act(id: string, verb: 'pause' | 'resume' | 'cancel' | 'retry-failed'): Promise<Answer>
  recipients(id: string, query?: string): Promise<Shown[]>
  /** The recipients as `status`; skipped ones with their reasons. */
  outcomes(id: string): Promise<string[]>
  /** What arrived at the upstream for the organization, in order. */
  arrived(): Promise<Shown[]>
  /** Makes all sends to a number fail with the error from now on. */
  failing(digits: string, code: number, by?: 'answer' | 'status'): Promise<void>
  healed(digits: string): Promise<void>
  /** Receives a status of the message with this upstream id. */
  report(upstreamId: string, status: string, fields?: object): Promise<void>
  /** Runs the service's maintenance until it gives up unknown outcomes. */
  giveUp(): Promise<void>
  /** Checks that every counter matches the recipients and their messages. */
  expectNoDrift(): Promise<void>
  close(): Promise<void>
}

/** Starts a world for broadcasts; the simulator sends no statuses. */
export async function startBroadcastWorld(env: Record<string, string> = {}): Promise<BroadcastWorld> {
  const world = await startWorld(env)
  await world.sim('POST', '/settings', { statuses: false })
  const organization = await newBroadcaster(world)
  const other = await newBroadcaster(world)
  const described = describe(world)
  const ask: Ask = (method, path, options = {}) => described(method, path, { key: organization.key, ...options })
  let people = 0
  const newNumber = () => `1650555${String(1_000 + ++people)}`

  const post: BroadcastWorld['post'] = (fields, headers = {}) =>
    ask('POST', '/broadcasts', { body: { name: 'News', templateName: PLAIN, ...fields }, headers })
  const create: BroadcastWorld['create'] = async (fields) => {
    const answer = await post(fields)
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    return answer.body.broadcast
  }
  const recipients: BroadcastWorld['recipients'] = async (id, query = 'limit=100') => {
    const answer = await ask('GET', `/broadcasts/{id}/recipients?${query}`, { id })
    expect(answer.status).toBe(200)
    return answer.body.recipients
  }
  const read: BroadcastWorld['read'] = async (id) => (await ask('GET', '/broadcasts/{id}', { id })).body.broadcast
  return {
    world,
    organization,
    other,
    ask,
    newNumber,
    newContact: async (fields = {}, owner = organization) => {
      const digits = newNumber()
      return { id: await createContact(world, owner, `+${digits}`, fields), digits }
    },
    post,
    create,
    send: async (fields) => {
      const { id } = await create(fields)
      await world.drain()
      return read(id)
    },
    read,
    act: (id, verb) => ask('POST', `/broadcasts/{id}/${verb}`, { id }),
    recipients,
    outcomes: async (id) =>
      (await recipients(id)).map(({ status, reason }) => (status === 'skipped' ? `${status}: ${reason}` : status)),
    arrived: async () => {
      const { body } = await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}`)
      return body.messages.map(({ payload }: { payload: Shown }) => payload)
    },
    failing: async (digits, code, by = 'answer') => {
      expect((await world.sim('PUT', `/recipients/${digits}`, { code, by })).status).toBe(200)
    },
    healed: async (digits) => {
      expect((await world.sim('DELETE', `/recipients/${digits}`)).status).toBe(200)
    },
    report: (upstreamId, status, fields = {}) => {
      const timestamp = String(Math.floor(world.now().getTime() / 1_000))
      return receive(world, organization, { statuses: [{ id: upstreamId, status, timestamp, ...fields }] })
    },
    giveUp: async () => {
      for (let minute = 0; minute <= 17; minute++) {
        await expireOutcomes(world.app.ctx)
        world.advance(MINUTE)
      }
    },
    expectNoDrift: async () => {
      const { ctx } = world.app
      const { drifts } = await verifyCounters(ctx, await getOrganization(ctx, organization.id))
      expect(drifts).toEqual([])
    },
    close: () => world.close(),
  }
}

/** An organization with the upstream's templates. */
export async function newBroadcaster(world: World): Promise<TestOrganization> {
  const organization = await world.createOrganization()
  const synced = await world.request('POST', '/templates/sync', { key: organization.key })
  expect(synced.status).toBe(200)
  return organization
}

/** The description uses paths with `{id}`. */
function describe(world: World): Ask {
  const request: Ask = (method, path, { id = '', ...options } = {}) =>
    world.request(method, path.replace('{id}', id), options)
  return requestAsDescribed({ request })
}

/** The numbers that received messages, sorted. */
export function numbersOf(messages: Shown[]): string[] {
  return messages.map(({ to }) => to).sort()
}
