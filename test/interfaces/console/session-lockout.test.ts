import { describe, expect, it } from 'vitest'
import { expireOutcomes } from '../../../src/core/maintenance/maintenance.js'
import { addMember, makeSignInLink, signIn } from '../../support/console.js'
import { type Answer, useOrganization, useWorld } from '../../support/world.js'

const SECOND = 1_000
const MINUTE = 60 * SECOND

const world = useWorld()
const organization = useOrganization(world)

const PASSWORD = 'a fine password'

interface Name {
  organization: string
  email: string
}

const tryOne = ({ organization, email }: Name, password = 'a wrong password', headers: Record<string, string> = {}) =>
  world.request('POST', '/console/api/session', { body: { organization, email, password }, headers })

async function fail(name: Name, times: number, headers: Record<string, string> = {}): Promise<void> {
  for (let count = 0; count < times; count++) {
    expect((await tryOne(name, undefined, headers)).status).toBe(401)
  }
}

/** As the proxy of the test's machine would say. */
const from = (network: string) => ({ 'x-forwarded-for': network })

/** The cookie by which the device of an answer is known, as a request header. */
function deviceOf({ headers }: Answer): { cookie: string } {
  const cookie = headers.getSetCookie().find((one) => one.startsWith('parley_device=')) ?? ''
  return { cookie: cookie.split(';')[0] as string }
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

describe('passwords from several networks', () => {
  it('count apart, so that a stranger does not lock out the member', async () => {
    const name = await newName()
    await fail(name, 5, from('8.8.8.8'))
    expectLocked(await tryOne(name, PASSWORD, from('8.8.8.8')), 60)
    expect((await tryOne(name, PASSWORD, from('1.1.1.1'))).status).toBe(200)
  })

  it('lock the name for all after 50 wrong ones, but not for a device on which the member signed in before', async () => {
    const name = await newName()
    const device = deviceOf(await tryOne(name, PASSWORD))
    for (let network = 1; network <= 10; network++) await fail(name, 5, from(`8.8.${network}.8`))
    expectLocked(await tryOne(name, PASSWORD, from('1.1.1.1')), 60)
    expectLocked(await tryOne(name, PASSWORD), 60)
    const known = await tryOne(name, PASSWORD, device)
    expect(known.status).toBe(200)
    expect(deviceOf(known)).toEqual(device)
    expectLocked(await tryOne(name, PASSWORD, from('1.1.1.1')), 60)
    world.advance(MINUTE)
    expect((await tryOne(name, PASSWORD, from('1.1.1.1'))).status).toBe(200)
  })

  it('a known device is locked after five wrong passwords of its own', async () => {
    const name = await newName()
    const device = deviceOf(await tryOne(name, PASSWORD))
    await fail(name, 5, device)
    expectLocked(await tryOne(name, PASSWORD, { ...device, ...from('1.1.1.1') }), 60)
    expect((await tryOne(name, PASSWORD)).status).toBe(200)
  })

  it('a device is known after a sign-in link too, and only to the name that signed in', async () => {
    const name = await newName()
    const token = await makeSignInLink(world, name.id)
    const device = deviceOf(await world.request('POST', '/console/api/session/link', { body: { token } }))
    const other = await newName()
    const elsewhere = await world.createOrganization()
    const twin = { email: name.email, full_name: 'Ana', role: 'owner', password: PASSWORD }
    await world.admin('POST', `/organizations/${elsewhere.id}/members`, twin)
    const there = { organization: elsewhere.slug, email: name.email }
    const forged = { cookie: `${device.cookie.slice(0, -2)}AA` }
    for (const one of [name, other, there]) await fail(one, 5)
    expectLocked(await tryOne(other, PASSWORD, device), 60)
    expectLocked(await tryOne(there, PASSWORD, device), 60)
    expectLocked(await tryOne(name, PASSWORD, forged), 60)
    expect((await tryOne(name, PASSWORD, device)).status).toBe(200)
  })
})

describe('an attempt without a free slot', () => {
  it('returns 503 to its network only, and does not count', async () => {
    const name = await newName()
    const rows = async () => (await world.database.pool.query('SELECT FROM sign_in_failures')).rowCount
    const before = await rows()
    const leaving: (() => void)[] = []
    const stay = () => new Promise<void>((resolve) => leaving.push(resolve))
    const source = { id: 'network 127.0.0.1', isKnown: false, area: null }
    const places = Array.from({ length: 20 }, () => world.app.ctx.passwords.queue(source, stay))
    for (let count = 0; count < 6; count++) {
      const { status, headers } = await tryOne(name)
      expect([status, headers.get('retry-after')]).toEqual([503, '2'])
    }
    expect(await rows()).toBe(before)
    expect((await tryOne(name, PASSWORD, from('1.1.1.1'))).status).toBe(200)
    for (const leave of leaving) leave()
    await Promise.all(places)
    expect((await tryOne(name, PASSWORD)).status).toBe(200)
  })
})

describe('while strangers fill the queue', () => {
  /** Takes places of the queue until the returned function is called. */
  function occupy(sources: { id: string; area: string | null }[]): () => Promise<unknown> {
    const leaving: (() => void)[] = []
    const stay = () => new Promise<void>((resolve) => leaving.push(resolve))
    const places = sources.map((source) => world.app.ctx.passwords.queue({ ...source, isKnown: false }, stay))
    return () => {
      for (const leave of leaving) leave()
      return Promise.all(places)
    }
  }

  it('a known device is let in, and a new one is not', async () => {
    const name = await newName()
    const device = deviceOf(await tryOne(name, PASSWORD))
    const leave = occupy(Array.from({ length: 1_000 }, (_, n) => ({ id: `network ${n}`, area: null })))
    expect((await tryOne(name, PASSWORD)).status).toBe(503)
    expect((await tryOne(name, PASSWORD, from('1.1.1.1'))).status).toBe(503)
    expect((await tryOne(name, PASSWORD, device)).status).toBe(200)
    await leave()
    expect((await tryOne(name, PASSWORD)).status).toBe(200)
  })

  it('the networks of one /48 take a part of it', async () => {
    const name = await newName()
    const networks = Array.from({ length: 60 }, (_, n) => `2606:4700:0:${n.toString(16)}`)
    const leave = occupy(networks.map((network) => ({ id: `network ${network}`, area: 'area 2606:4700:0' })))
    expect((await tryOne(name, PASSWORD, from('2606:4700:0:ffff::1'))).status).toBe(503)
    expect((await tryOne(name, PASSWORD, from('2606:4700:1:ffff::1'))).status).toBe(200)
    await leave()
    expect((await tryOne(name, PASSWORD, from('2606:4700:0:ffff::1'))).status).toBe(200)
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
  it('are bounded: those of the oldest names are deleted', async () => {
    const name = await newName()
    await fail(name, 5)
    const { pool } = world.database
    await pool.query(
      `INSERT INTO sign_in_failures (name_hash, failures, failed_at)
       SELECT sha256(n::text::bytea), 1, $1::timestamptz - n * interval '1 second' FROM generate_series(1, 100100) AS n`,
      [world.now()],
    )
    await expireOutcomes(world.app.ctx)
    expect((await pool.query('SELECT count(*)::int AS rows FROM sign_in_failures')).rows).toEqual([{ rows: 100_000 }])
    expectLocked(await tryOne(name, PASSWORD), 60)
    await pool.query('TRUNCATE sign_in_failures')
  })

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
