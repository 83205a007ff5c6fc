import { once } from 'node:events'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageVersion } from '../../../src/lib/files/package-version.js'
import { besideService, type Result, run, toUrl, useFolder } from '../../support/cli.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const NOBODY = 'http://127.0.0.1:1'

const folder = useFolder()
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization

beforeAll(async () => {
  env = {
    ...besideService(world.database.connection),
    PARLEY_DATA_DIR: folder.path,
    PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl,
    PARLEY_PUBLIC_URL: world.app.url,
  }
  organization = await world.createOrganization()
  await noteWork()
})

/** The process of the tests runs no worker, which would note each minute that it works. */
const noteWork = () =>
  world.database.pool.query("INSERT INTO service_uptime (up_since, seen_at) VALUES (now(), now() + interval '1 hour')")

interface Report {
  check: string
  level: string
  found: string
  remedy: string | null
}

const doctor = (further: Record<string, string> = {}) => run(['doctor', '--json'], { ...env, ...further })

const reportOf = (result: Result, name: string) => reportsOf(result, name)[0]

const reportsOf = (result: Result, name: string) => (result.json() as Report[]).filter(({ check }) => check === name)

/** The server of the tests runs without fsync, which is rightly reported. */
const failedOf = (result: Result) => allFailedOf(result).filter((check) => check !== 'safety')

const allFailedOf = (result: Result) =>
  (result.json() as Report[]).filter(({ level }) => level === 'failed').map(({ check }) => check)

/** All that the checks could leave in the database. */
async function traces(): Promise<unknown> {
  const { rows } = await world.database.pool.query(
    `SELECT (SELECT count(*)::integer FROM pg_class) AS classes,
       (SELECT count(*)::integer FROM pg_extension) AS extensions, (SELECT count(*)::integer FROM pg_namespace) AS schemas`,
  )
  return rows[0]
}

describe('doctor', () => {
  it('finds nothing wrong with a service that runs, and leaves nothing behind', async () => {
    const before = { traces: await traces(), files: await readdir(folder.path, { recursive: true }) }
    const result = await doctor()
    expect(failedOf(result)).toEqual([])
    const fine = ['settings', 'extensions', 'pooler', 'schema', 'data folder', 'callbacks', 'secrets']
    for (const check of [...fine, 'suspensions', 'upstream', 'numbers']) {
      expect(reportOf(result, check)).toMatchObject({ level: 'ok', remedy: null })
    }
    expect(reportOf(result, 'processes')?.found).toMatch(/^1 running/)
    expect({ traces: await traces(), files: await readdir(folder.path, { recursive: true }) }).toEqual(before)
  })

  it('says that no process does background work, unless a worker has noted it or may have just started', async () => {
    const { pool } = world.database
    const lastWorked = (at: string) => pool.query(`UPDATE service_uptime SET seen_at = ${at}`)
    await pool.query("UPDATE processes SET started_at = now() - interval '1 hour'")
    const working = await doctor()
    await lastWorked("'2026-05-06T07:08:09Z'")
    const idle = await doctor()
    await pool.query('DELETE FROM service_uptime')
    const never = await doctor()
    await pool.query('UPDATE processes SET started_at = now()')
    const young = await doctor()
    await noteWork()
    expect(failedOf(working)).toEqual([])
    expect(failedOf(idle)).toEqual(['processes'])
    expect(reportOf(idle, 'processes')?.found).toBe(
      'none does background work (callbacks, jobs, webhooks), since 2026-05-06T07:08:09.000Z',
    )
    expect(reportOf(idle, 'processes')?.remedy).toMatch(/^start a process with the role worker/)
    expect(reportOf(never, 'processes')?.found).toMatch(/webhooks\)$/)
    expect(failedOf(young)).toEqual([])
  })

  it('names the processes of other versions', async () => {
    await world.database.pool.query("UPDATE processes SET version = '0.9.0', started_at = '2026-05-06T07:08:09Z'")
    const result = await doctor()
    await world.database.pool.query('UPDATE processes SET version = $1, started_at = now()', [packageVersion])
    expect(reportOf(result, 'processes')).toMatchObject({
      level: 'warning',
      found: expect.stringMatching(/^1 running \(0\.9\.0\): 0\.9\.0 from .+, since 2026-05-06T07:08:09\.000Z$/),
      remedy: expect.stringContaining('finish the upgrade or go back'),
    })
  })

  it('prints what to do below what it has found', async () => {
    const { code, out, err } = await run(['doctor'], { ...env, PARLEY_PUBLIC_URL: NOBODY })
    expect(code).toBe(1)
    expect(out).toMatch(/^failed {3}public address: .*cannot be reached.*\n {9}check PARLEY_PUBLIC_URL/m)
    expect(out).toMatch(/^failed {3}callbacks: /m)
    expect(err).toMatch(/^parley: \d checks failed$/m)
  })

  it('names the organization whose credentials the upstream refuses, without its token', async () => {
    const setNumber = (id: string) =>
      world.database.pool.query('UPDATE upstream_settings SET phone_number_id = $2 WHERE organization_id = $1', [
        organization.id,
        id,
      ])
    await setNumber('404')
    const result = await doctor()
    await setNumber(organization.phoneNumberId)
    expect(failedOf(result)).toEqual(['upstream'])
    expect(reportOf(result, 'upstream')?.found).toContain(organization.slug)
    expect(reportOf(result, 'upstream')?.remedy).toContain('with a valid token')
    expect(result.out).not.toContain(organization.accessToken)
  })

  it('advises to wait, and no new token, while the upstream does not answer', async () => {
    const result = await doctor({ PARLEY_UPSTREAM_URL: `${NOBODY}/v23.0` })
    expect(failedOf(result)).toEqual(['upstream'])
    expect(reportOf(result, 'upstream')?.found).toContain(`${organization.slug}: no answer`)
    expect(reportOf(result, 'upstream')?.remedy).toMatch(/^wait until the upstream answers/)
    expect(reportOf(result, 'upstream')?.remedy).not.toContain('token')
  })

  it('tells of each number that is not ok what is known about it, and how many are', async () => {
    const steps = [
      { reason: 'subscribed_right', values: { account: '7' } },
      { reason: 'callbacks_missing' },
      { reason: 'not_registered', values: { status: 'PENDING' } },
    ]
    await world.database.pool.query(
      `INSERT INTO number_states (organization_id, phone_number_id, state, problems, steps, facts, token_expires_at)
       VALUES ($1, $2, 'failed', '{callbacks_missing,not_registered}', $3, $4, '2031-05-06T07:08:09Z')`,
      [organization.id, organization.phoneNumberId, JSON.stringify(steps), '{"can_send": "BLOCKED"}'],
    )
    const result = await doctor()
    await world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'gateway' })
    const ofGateway = await doctor()
    await world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'upstream' })
    await world.database.pool.query('DELETE FROM number_states')
    expect(failedOf(ofGateway)).not.toContain('numbers')
    expect(failedOf(result)).toEqual(['numbers'])
    const [bad, fine, ...others] = reportsOf(result, 'numbers')
    expect(bad?.found).toBe(
      `${organization.slug}, ${organization.phoneNumberId}: The app has no callback URL: no message arrives; The number is not registered (PENDING): it can neither send nor receive (token valid until 2031-05-06T07:08:09.000Z, app subscribed: yes, callback address as it should be: no, last callback never, last send never, health BLOCKED, checked never)`,
    )
    expect(bad?.remedy).toMatch(/Connect the number again, and give a PIN \(docs\/\S+\); parley org connect /)
    expect([fine?.level, others]).toEqual(['ok', []])
  })

  it('says how old what it knows of the numbers that are well is, and when a callback came', async () => {
    await world.database.pool.query(
      `INSERT INTO number_states (organization_id, phone_number_id, state, checked_at, last_callback_at)
       VALUES ($1, $2, 'ok', now() - interval '10 hours', now() - interval '5 hours')`,
      [organization.id, organization.phoneNumberId],
    )
    const result = await doctor()
    await world.database.pool.query('DELETE FROM number_states')
    expect(reportOf(result, 'numbers')?.found).toMatch(
      /^1 are well \(oldest check 60\d min ago\); the last callback of any number came 30\d min ago$/,
    )
  })

  it('says of a suspended organization to resume it, and of one that has moved to delete it', async () => {
    const moved = await world.createOrganization()
    await run(['org', 'suspend', organization.slug], env)
    await run(['org', 'suspend', moved.slug], env)
    await run(['org', 'forward', moved.slug, '--to', 'https://us1.chat.example.com'], env)
    const result = await doctor()
    await run(['org', 'delete', moved.slug, '--yes'], env)
    await run(['org', 'resume', organization.slug], env)
    expect(failedOf(result)).toEqual([])
    const found = (slug: string) => `${slug} has been suspended since \\d{4}-\\d\\d-\\d\\dT\\S+Z; its `
    expect(reportsOf(result, 'suspensions')).toMatchObject([
      {
        level: 'warning',
        found: expect.stringMatching(`^${found(organization.slug)}requests and callbacks are refused`),
        remedy: expect.stringMatching(`^parley org resume ${organization.slug}; .*parley org delete .* --yes`),
      },
      {
        level: 'warning',
        found: expect.stringMatching(`^${found(moved.slug)}links are redirected to https://us1.chat.example.com$`),
        remedy: expect.stringMatching(`^it has moved: .*: parley org delete ${moved.slug} --yes`),
      },
    ])
    expect(result.out).not.toContain(`resume ${moved.slug}`)
    expect(reportOf(await doctor(), 'suspensions')).toMatchObject({ level: 'ok', remedy: null })
  })

  it('names twenty suspended organizations, those that were suspended first, and counts the others', async () => {
    await world.database.pool.query(
      `INSERT INTO organization_rows (id, name, slug, default_country, timezone, currency, language, suspended_at)
       SELECT gen_random_uuid(), 'Away', 'away-' || n, 'BR', 'UTC', 'BRL', 'pt_BR', now() - n * interval '1 day'
       FROM generate_series(1, 22) AS n`,
    )
    const result = await doctor()
    await world.database.pool.query("DELETE FROM organization_rows WHERE name = 'Away'")
    const found = reportsOf(result, 'suspensions').map((report) => report.found)
    expect(found.map((text) => text.split(' ', 1)[0])).toEqual([
      ...Array.from({ length: 20 }, (_, index) => `away-${22 - index}`),
      '2',
    ])
    expect(found.at(-1)).toBe('2 more are suspended')
  })

  it('finds settings of the server that lose data', async () => {
    const { rows } = await world.database.pool.query('SHOW fsync')
    const result = await doctor()
    expect(allFailedOf(result).includes('safety')).toBe(rows[0].fsync === 'off')
    expect(result.code).toBe(rows[0].fsync === 'off' ? 1 : 0)
  })

  it('says that credentials cannot be opened with another key', async () => {
    expect(failedOf(await doctor({ PARLEY_SECRET: 'another-master-key-of-the-tests' }))).toEqual([
      'secrets',
      'upstream',
    ])
  })

  it('warns that the generated key is in one folder alone, and says that it is the one to set', async () => {
    const { PARLEY_SECRET, ...others } = env
    const file = join(folder.path, 'secrets.json')
    const generated = { PARLEY_ADMIN_TOKEN: 'admin-token-of-the-tests', PARLEY_SECRET }
    await writeFile(file, JSON.stringify(generated), { mode: 0o600 })
    const result = await run(['doctor', '--json'], others)
    await rm(file)
    expect(reportOf(result, 'secrets')).toEqual({
      check: 'secrets',
      level: 'warning',
      found: `PARLEY_SECRET is not set: the key is only in ${folder.path}`,
      remedy: expect.stringMatching(/^set it to the one that secrets\.json there has /),
    })
    expect(result.out).not.toContain(PARLEY_SECRET)
  })

  it('says that a replica is none, or does not answer', async () => {
    const primary = await doctor({ PARLEY_REPLICA_URL: toUrl(world.database.connection) })
    expect(failedOf(primary)).toEqual(['replica'])
    expect(reportOf(primary, 'replica')?.found).toBe('it is not a replica: it accepts writes')
    const away = await doctor({ PARLEY_REPLICA_URL: 'postgres://parley:secret-word@127.0.0.1:1/parley' })
    expect(failedOf(away)).toEqual(['replica'])
    expect(away.out).not.toContain('secret-word')
    expect(reportOf(await doctor(), 'replica')).toBeUndefined()
  })

  it('says whether the organization of the gateway key exists, without the key', async () => {
    const key = { PARLEY_GATEWAY_KEY: 'a-secret-key-of-the-gateway' }
    const right = await doctor({ ...key, PARLEY_GATEWAY_ORGANIZATION: organization.slug })
    expect(reportOf(right, 'gateway key')).toMatchObject({
      level: 'ok',
      found: expect.stringContaining(organization.name),
    })
    const wrong = await doctor({ ...key, PARLEY_GATEWAY_ORGANIZATION: 'nobody' })
    expect(failedOf(wrong)).toEqual(['gateway key'])
    expect(right.out + wrong.out).not.toContain('secret-key')
    expect(reportOf(await doctor(), 'gateway key')).toBeUndefined()
  })

  it('finds a wrong setting, and a database that does not answer', async () => {
    expect(failedOf(await doctor({ PARLEY_PORT: 'many' }))).toEqual(['settings'])
    const result = await doctor({ PARLEY_DATABASE_URL: 'postgres://parley:secret-word@127.0.0.1:1/parley' })
    expect(failedOf(result)).toEqual(['database'])
    expect(result.out).not.toContain('secret-word')
  })

  it('says that a server hangs, and of the address only that the database comes first', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const PARLEY_DATABASE_URL = `postgres://parley:secret-word@127.0.0.1:${port}/parley`
    const result = await doctor({ PARLEY_DATABASE_URL, PARLEY_PUBLIC_URL: NOBODY })
    silent.close()
    expect(failedOf(result)).toEqual(['database', 'public address', 'callbacks'])
    expect(reportOf(result, 'database')?.found).toBe(
      'PARLEY_DATABASE_URL: it accepts connections and answers nothing: check host and port; if they are right, restart PostgreSQL or its pooler',
    )
    for (const check of ['public address', 'callbacks'])
      expect(reportOf(result, check)?.remedy).toBe('repair the database first, then check again')
  })

  it('says that callbacks reach a service that cannot work', async () => {
    const server = createHttpServer((_request, response) =>
      response.writeHead(503).end('{"success":false,"error":"Service unavailable"}'),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const result = await doctor({ PARLEY_PUBLIC_URL: `http://127.0.0.1:${port}` })
    server.closeAllConnections()
    server.close()
    expect(reportOf(result, 'callbacks')).toMatchObject({
      level: 'failed',
      found: expect.stringMatching(/answers 503: the service is reachable, and cannot work$/),
      remedy: expect.stringContaining('/readyz'),
    })
  })

  it('does not create an embedded database', async () => {
    const { PARLEY_DATABASE_URL: _, ...embedded } = env
    const result = await run(['doctor', '--json'], embedded)
    expect(result.code).toBe(0)
    expect(reportOf(result, 'database')).toMatchObject({ level: 'warning' })
    expect(await readdir(folder.path)).not.toContain('postgres')
  })

  it('finds a role that may not create tables', async () => {
    const role = `parley_doctor_${process.pid}`
    const url = new URL(toUrl(world.database.connection).replace('///', '//localhost/'))
    await world.database.pool.query(`CREATE ROLE ${role} LOGIN`)
    try {
      url.searchParams.set('user', role)
      const result = await doctor({ PARLEY_DATABASE_URL: url.href.replace('//localhost/', '///') })
      expect(reportOf(result, 'rights')).toMatchObject({ level: 'failed', found: `${role} may not create tables` })
    } finally {
      await world.database.pool.query(`DROP ROLE ${role}`)
    }
  })
})
