import { beforeAll, describe, expect, it } from 'vitest'
import { besideService, type Result, run } from '../../support/cli.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization

beforeAll(async () => {
  env = besideService(world.database.connection)
  organization = await world.createOrganization()
})

/** Runs `parley key <args>` next to the world's service. */
function key(...args: string[]): Promise<Result> {
  return run(['key', ...args], env)
}

async function create(...options: string[]) {
  const made = await key('create', organization.slug, '--name', 'by hand', '--json', ...options)
  expect(made).toMatchObject({ code: 0 })
  return made.json()
}

/** The service's answer to a request with the key. */
async function answerTo(secret: string): Promise<string> {
  const { body } = await world.request('GET', '/contact?chat_id=5511987654321', { key: secret })
  return `${body.error}: ${body.message}`
}

describe('key create', () => {
  it('issues a key that works at once and that the admin API lists', async () => {
    const made = await create()
    expect(made.key).toMatch(/^parley_[\w-]{32,}$/)
    expect(await answerTo(made.key)).toMatch(/^Contact not found/)
    const { key: _secret, ...shown } = made
    const { body } = await world.admin('GET', `/organizations/${organization.id}/keys`)
    expect(body.api_keys).toContainEqual({ ...shown, last_used_at: expect.any(String) })
  })

  it("limits the key's scopes and lifetime", async () => {
    const made = await create('--scopes', 'messages:send, contacts:write', '--expires-at', '2030-01-31T00:00:00Z')
    expect(made).toMatchObject({ scopes: ['messages:send', 'contacts:write'], expires_at: '2030-01-31T00:00:00.000Z' })
    expect(await answerTo(made.key)).toMatch(/^Insufficient scope/)
    expect(await answerTo((await create('--expires-at', '2020-01-01T00:00:00Z')).key)).toContain('has expired')
  })

  it('says that the key is shown only once, next to the result', async () => {
    const made = await key('create', organization.id, '--name', 'by hand')
    expect(made).toMatchObject({ code: 0, err: 'The key is shown only once: store it now\n' })
    expect(made.out).toMatch(/\nkey +parley_[\w-]{32,}\n/)
  })

  it.each([
    [['--name', ''], /^parley: --name is required and must not be empty/],
    [['--name', 'x', '--scopes', 'everything'], /^parley: --scopes must be one of contacts:read, /],
    [['--name', 'x', '--scopes', ''], /^parley: --scopes must be one of contacts:read, /],
    [['--name', 'x', '--expires-at', 'tomorrow'], /^parley: --expires-at must be a valid date-time/],
    [[], /^parley: required option '--name <name>' not specified/],
  ])('ends with 2 and one line for %j', async (options, complaint) => {
    const refused = await key('create', organization.slug, ...options)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
    expect(refused.err.trimEnd()).not.toContain('\n')
  })

  it('ends with 1 for an unknown organization', async () => {
    expect(await key('create', 'nowhere', '--name', 'x')).toMatchObject({ code: 1, out: '' })
  })
})

describe('key list', () => {
  it("shows only the organization's own keys, without their secrets", async () => {
    const other = await world.createOrganization()
    await create()
    const { body } = await world.admin('GET', `/organizations/${organization.id}/keys`)
    const listed = await key('list', organization.slug, '--json')
    expect(listed.json()).toEqual(body.api_keys)
    expect(listed.out).not.toContain('"key"')
    expect((await key('list', other.slug, '--json')).json()).toHaveLength(1)
    const table = (await key('list', organization.slug)).out
    expect(table).toMatch(/^id +name +prefix +scopes +created_at +expires_at +revoked_at +last_used_at\n/)
    expect(table).toMatch(/ by hand +parley_\S+ +all +2/)
  })

  it('ends with 1 for an unknown organization', async () => {
    expect(await key('list', NO_ID)).toMatchObject({ code: 1, out: '' })
  })
})

describe('key rotate', () => {
  it('replaces the key, at once or after an overlap', async () => {
    const old = await create()
    const next = (await key('rotate', old.id, '--json')).json()
    expect(await answerTo(old.key)).toContain('has been revoked')
    const last = (await key('rotate', next.id, '--overlap', '3600', '--json')).json()
    expect(await answerTo(next.key)).toMatch(/^Contact not found/)
    expect(await answerTo(last.key)).toMatch(/^Contact not found/)
    expect(last).toMatchObject({ name: old.name, scopes: old.scopes })
  })

  it.each(['-1', '1.5', 'soon', '2592001'])('ends with 2 for an overlap of %s', async (overlap) => {
    const { id } = await create()
    expect(await key('rotate', id, `--overlap=${overlap}`)).toMatchObject({
      code: 2,
      out: '',
      err: 'parley: --overlap must be a whole number from 0 to 2592000\n',
    })
  })

  it('ends with 1 for a key that is unknown or revoked', async () => {
    const { id } = await create()
    await key('revoke', id)
    expect(await key('rotate', id)).toMatchObject({ code: 1, out: '' })
    expect(await key('rotate', NO_ID)).toMatchObject({
      code: 1,
      err: `parley: There is no API key with the id ${NO_ID}\n`,
    })
    expect(await key('rotate', 'nonsense')).toMatchObject({ code: 1, out: '' })
  })
})

describe('key revoke', () => {
  it('takes effect on the next request', async () => {
    const made = await create()
    expect(await answerTo(made.key)).toMatch(/^Contact not found/)
    expect((await key('revoke', made.id.toUpperCase(), '--json')).json()).toMatchObject({
      id: made.id,
      revoked_at: expect.any(String),
    })
    expect(await answerTo(made.key)).toBe('Invalid API key: API key has been revoked')
  })

  it('ends with 1 for an unknown key', async () => {
    expect(await key('revoke', NO_ID)).toMatchObject({ code: 1, out: '' })
  })
})
