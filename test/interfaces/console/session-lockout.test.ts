import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addMember, makeSignInLink, signIn } from '../../support/console.js'
import { type Answer, startWorld, type TestOrganization, type World } from '../../support/world.js'

const SECOND = 1_000
const MINUTE = 60 * SECOND

let world: World
let organization: TestOrganization

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
})

afterAll(() => world.close())

const PASSWORD = 'a fine password'

interface Name {
  organization: string
  email: string
}

const tryOne = ({ organization, email }: Name, password = 'a wrong password') =>
  world.request('POST', '/console/api/session', { body: { organization, email, password } })

async function fail(name: Name, times: number): Promise<void> {
  for (let count = 0; count < times; count++) expect((await tryOne(name)).status).toBe(401)
}

/** The name of a member with a password. */
async function newName(): Promise<Name & { id: string }> {
  const { id, email } = await addMember(world, organization, { password: PASSWORD })
  return { organization: organization.slug, email, id }
}

function expectLocked({ status, headers, body }: Answer, seconds: number): void {
  expect(status).toBe(429)
  expect(body).toMatchObject({ success: false, error: 'Too many requests' })
  // The test clock also advances with real time.
  expect(body.retry_after).toBeGreaterThan(seconds - 30)
  expect(body.retry_after).toBeLessThanOrEqual(seconds)
  expect(headers.get('retry-after')).toBe(String(body.retry_after))
}

describe('five wrong passwords', () => {
  it('lock the name for a minute, even for the right one, and then twice as long each time', async () => {
    const name = await newName()
    await fail(name, 5)
    for (const minutes of [1, 2, 4]) {
      expectLocked(await tryOne(name, PASSWORD), minutes * 60)
      world.advance(minutes * MINUTE)
      await fail(name, 1)
    }
    world.advance(8 * MINUTE)
    expect((await tryOne(name, PASSWORD)).status).toBe(200)
  })

  it('lock it for an hour at most', async () => {
    const name = await newName()
    await fail(name, 5)
    for (let count = 0; count < 10; count++) {
      world.advance(60 * MINUTE)
      await fail(name, 1)
    }
    expectLocked(await tryOne(name), 3600)
  })

  it('lock an unknown name in the same way', async () => {
    for (const name of [
      { organization: organization.slug, email: 'nobody@example.com' },
      { organization: 'nowhere', email: 'nobody@example.com' },
    ]) {
      await fail(name, 5)
      expectLocked(await tryOne(name), 60)
      world.advance(MINUTE)
      await fail(name, 1)
      expectLocked(await tryOne(name), 120)
    }
  })

  it('count for the name in any case', async () => {
    const name = await newName()
    await fail(name, 3)
    await fail({ organization: ` ${name.organization.toUpperCase()}`, email: `${name.email.toUpperCase()} ` }, 2)
    expectLocked(await tryOne(name, PASSWORD), 60)
  })

  it('count for all spellings that the database treats as the same name', async () => {
    const email = `olivia-${Date.now()}@example.com`
    const member = { email, full_name: 'Olivia', role: 'agent', password: PASSWORD }
    await world.admin('POST', `/organizations/${organization.id}/members`, member)
    const name = { organization: organization.slug, email }
    await fail(name, 5)
    expect((await tryOne({ ...name, email: email.replaceAll('i', 'İ') }, PASSWORD)).status).toBe(401)
    expectLocked(await tryOne({ ...name, email: email.toUpperCase() }, PASSWORD), 60)
  })

  it('are no more than five even at the same moment', async () => {
    const name = await newName()
    const answers = await Promise.all(Array.from({ length: 12 }, () => tryOne(name)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(7)
  })

  it('do not affect colleagues, the same address elsewhere, links and open sessions', async () => {
    const name = await newName()
    const other = await world.createOrganization()
    const body = { email: name.email, full_name: 'Ana', role: 'owner', password: PASSWORD }
    await world.admin('POST', `/organizations/${other.id}/members`, body)
    const colleague = await newName()
    const open = await signIn(world, organization)
    await fail(name, 5)
    await fail({ organization: organization.slug, email: open.member.email }, 5)
    expect((await tryOne({ organization: other.slug, email: name.email }, PASSWORD)).status).toBe(200)
    expect((await tryOne(colleague, PASSWORD)).status).toBe(200)
    const token = await makeSignInLink(world, name.id)
    expect((await world.request('POST', '/console/api/session/link', { body: { token } })).status).toBe(200)
    expect((await open.call('GET', '/session')).status).toBe(200)
  })
})

describe('an attempt without a free slot', () => {
  it('returns 503, and does not count', async () => {
    const name = await newName()
    const rows = async () => (await world.database.pool.query('SELECT FROM sign_in_failures')).rowCount
    const before = await rows()
    const leaving: (() => void)[] = []
    const stay = () => new Promise<void>((resolve) => leaving.push(resolve))
    const places = Array.from({ length: 100 }, () => world.app.ctx.passwords.queue(stay))
    for (let count = 0; count < 6; count++) {
      const { status, headers } = await tryOne(name)
      expect([status, headers.get('retry-after')]).toEqual([503, '2'])
    }
    for (const leave of leaving) leave()
    await Promise.all(places)
    expect(await rows()).toBe(before)
    expect((await tryOne(name, PASSWORD)).status).toBe(200)
  })
})

describe('the right password', () => {
  it('resets the count of wrong ones', async () => {
    const name = await newName()
    for (let round = 0; round < 3; round++) {
      await fail(name, 4)
      expect((await tryOne(name, PASSWORD)).status).toBe(200)
    }
  })
})

describe('the stored failures', () => {
  it('do not contain names', async () => {
    const name = await newName()
    await fail(name, 1)
    const { rows } = await world.database.pool.query('SELECT f::text AS row FROM sign_in_failures f')
    expect(rows.length).toBeGreaterThan(0)
    const text = JSON.stringify(rows)
    expect(text).not.toContain(name.email)
    expect(text).not.toContain(Buffer.from(name.email).toString('hex'))
  })
})
