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

/** Runs `parley member <args>` next to the world's service. */
function member(args: string[], input?: string): Promise<Result> {
  return run(['member', ...args], env, input)
}

function add(email: string, options: string[] = [], input?: string): Promise<Result> {
  const fields = ['--email', email, '--name', 'Ana Souza', '--role', 'agent', '--json']
  return member(['add', organization.slug, ...fields, ...options], input)
}

describe('member add', () => {
  it('adds a member that the admin API lists in the same form', async () => {
    const added = await add('ana@example.com')
    expect(added).toMatchObject({ code: 0, err: '' })
    const { body } = await world.admin('GET', `/organizations/${organization.id}/members`)
    expect(body.members).toContainEqual(added.json())
    expect(added.json()).toMatchObject({ email: 'ana@example.com', full_name: 'Ana Souza', role: 'agent' })
  })

  it('reads a password from standard input and never prints it', async () => {
    const added = await add('secret@example.com', ['--password-stdin'], 'correct horse battery\n')
    expect(added).toMatchObject({ code: 0, err: '' })
    expect(added.out).not.toContain('horse')
    expect(added.json()).not.toHaveProperty('password_hash')
  })

  it.each([
    [['--email', 'nobody'], /^parley: --email must be an e-mail address/],
    [['--name', ''], /^parley: --name is required and must not be empty/],
    [['--role', 'boss'], /^parley: --role must be one of owner, agent, analyst/],
    [['--password-stdin'], /^parley: the password on standard input must have at least 8 characters/],
  ])('ends with 2 and one line for %j', async (options, complaint) => {
    const refused = await add('wrong@example.com', options, 'short\n')
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
    expect(refused.err.trimEnd()).not.toContain('\n')
  })

  it('ends with 1 for an address that the team already has, and for an unknown organization', async () => {
    await add('twice@example.com')
    expect(await add('twice@example.com')).toMatchObject({
      code: 1,
      out: '',
      err: 'parley: The organization has a member with the e-mail address twice@example.com already\n',
    })
    const fields = ['--email', 'a@example.com', '--name', 'A', '--role', 'owner']
    expect(await member(['add', 'nowhere', ...fields])).toMatchObject({ code: 1, out: '' })
  })
})

describe('member list', () => {
  it("shows only the organization's own team", async () => {
    const other = await world.createOrganization()
    await add('listed@example.com')
    const { body } = await world.admin('GET', `/organizations/${organization.id}/members`)
    expect((await member(['list', organization.slug, '--json'])).json()).toEqual(body.members)
    expect((await member(['list', organization.slug])).out).toMatch(/ listed@example\.com +Ana Souza +agent +false +2/)
    expect((await member(['list', other.slug, '--json'])).json()).toEqual([])
    expect(await member(['list', other.slug])).toMatchObject({ code: 0, out: '(none)\n' })
  })

  it('ends with 1 for an unknown organization', async () => {
    expect(await member(['list', 'nowhere'])).toMatchObject({ code: 1, out: '' })
  })
})

describe('member link', () => {
  it('creates a link that the service accepts once', async () => {
    const { id } = (await add('linked@example.com')).json()
    const made = await member(['link', id, '--json'])
    expect(made).toMatchObject({ code: 0, err: '' })
    const { url, expires_at } = made.json()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/console\/sign-in#\S+$/)
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now())
    const use = () => world.request('POST', '/console/api/session/link', { body: { token: url.split('#')[1] } })
    const { status, body } = await use()
    expect([status, body.session.member.id]).toEqual([200, id])
    expect((await use()).status).toBe(401)
    expect((await member(['link', id])).out).toMatch(/^url +http\S+\nexpires_at +\S+\n$/)
  })

  it('takes an e-mail address and the organization, by slug or id', async () => {
    const { id } = (await add('by-mail@example.com')).json()
    for (const org of [organization.slug, organization.id]) {
      const { url } = (await member(['link', 'By-Mail@example.com', '--org', org, '--json'])).json()
      const token = url.split('#')[1]
      const { body } = await world.request('POST', '/console/api/session/link', { body: { token } })
      expect(body.session.member.id).toBe(id)
    }
    expect((await member(['link', id, '--org', organization.slug])).code).toBe(0)

    const other = await world.createOrganization()
    for (const named of ['by-mail@example.com', id]) {
      expect(await member(['link', named, '--org', other.slug])).toMatchObject({ code: 1, out: '' })
    }
    expect(await member(['link', 'by-mail@example.com'])).toMatchObject({
      code: 2,
      out: '',
      err: 'parley: --org is required with an e-mail address: parley member link by-mail@example.com --org <slug>\n',
    })
  })

  it('ends with 1 for an unknown member', async () => {
    for (const id of [NO_ID, 'nonsense']) {
      expect(await member(['link', id])).toMatchObject({
        code: 1,
        out: '',
        err: `parley: There is no member with the id ${id}\n`,
      })
    }
  })
})

describe('member remove', () => {
  it('removes the member; a second time fails', async () => {
    const { id } = (await add('leaving@example.com')).json()
    expect(await member(['remove', id])).toMatchObject({ code: 0, out: 'The member has been removed\n' })
    expect((await member(['list', organization.slug])).out).not.toContain('leaving@example.com')
    expect(await member(['remove', id])).toMatchObject({ code: 1, out: '' })
  })

  it.each([NO_ID, 'nonsense'])('ends with 1 for %s', async (id) => {
    expect(await member(['remove', id])).toMatchObject({
      code: 1,
      err: `parley: There is no member with the id ${id}\n`,
    })
  })
})
