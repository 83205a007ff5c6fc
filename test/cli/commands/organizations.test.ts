import { beforeAll, describe, expect, it } from 'vitest'
import { besideService, type Result, run } from '../../support/cli.js'
import { useWorld } from '../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
let env: Record<string, string>

beforeAll(async () => {
  env = besideService(world.database.connection)
})

/** Runs `parley org <args>` next to the world's service. */
function org(args: string[], input?: string): Promise<Result> {
  return run(['org', ...args], env, input)
}

async function create(slug: string, ...options: string[]) {
  const made = await org(['create', '--name', `Shop ${slug}`, '--slug', slug, '--json', ...options])
  expect(made).toMatchObject({ code: 0, err: '' })
  return made.json()
}

describe('org create', () => {
  it('creates an organization that the admin API shows in the same form', async () => {
    const made = await create('full', '--provider', 'gateway', '--country', 'IT', '--timezone', 'Europe/Rome')
    const shown = await world.admin('GET', `/organizations/${made.id}`)
    expect(shown.body.organization).toEqual(made)
    expect(made).toMatchObject({ slug: 'full', provider: 'gateway', default_country: 'IT', timezone: 'Europe/Rome' })
  })

  it('has the defaults of the admin API', async () => {
    const viaApi = await world.admin('POST', '/organizations', { name: 'x', slug: 'via-api' })
    const { provider, default_country, timezone, currency, language } = viaApi.body.organization
    expect(await create('plain')).toMatchObject({ provider, default_country, timezone, currency, language })
  })

  it('prints a line per field without --json', async () => {
    const made = await org(['create', '--name', 'Lines', '--slug', 'lines'])
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(made.out).toMatch(/^id +[0-9a-f-]{36}\nname +Lines\nslug +lines\nprovider +-\ndefault_country +BR\n/)
  })

  it.each([
    [['--slug', 'No Slug'], /^parley: --slug must be 1 to 63 lower-case letters, digits and hyphens/],
    [['--slug', 'a'.repeat(64)], /^parley: --slug must be 1 to 63/],
    [['--slug', 'ok', '--name', ''], /^parley: --name is required and must not be empty/],
    [['--slug', 'ok', '--name', 'n'.repeat(201)], /^parley: --name must have at most 200 characters/],
    [['--slug', 'ok', '--provider', 'pigeon'], /^parley: --provider must be one of upstream, gateway/],
    [['--slug', 'ok', '--country', 'ZZ'], /^parley: --country "ZZ" is not a country/],
    [['--slug', 'ok', '--country', 'brazil'], /^parley: --country must be a country code such as BR/],
    [['--slug', 'ok', '--timezone', 'Mars/Base'], /^parley: --timezone "Mars\/Base" is not a time zone/],
    [['--slug', 'ok', '--currency', 'XYZ'], /^parley: --currency "XYZ" is not a currency/],
    [['--slug', 'ok', '--language', '??'], /^parley: --language must be a language such as pt_BR/],
    [[], /^parley: required option '--slug <slug>' not specified/],
    [['--slug', 'ok', '--colour', 'red'], /^parley: unknown option '--colour'/],
    [['--slug', 'ok', 'surplus'], /^parley: too many arguments/],
  ])('ends with 2 and one line for %j', async (options, complaint) => {
    const refused = await org(['create', '--name', 'Shop', ...options])
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
    expect(refused.err.trimEnd()).not.toContain('\n')
  })

  it('ends with 1 and one line for a slug that is taken', async () => {
    await create('taken')
    expect(await org(['create', '--name', 'Other', '--slug', 'taken'])).toMatchObject({
      code: 1,
      out: '',
      err: 'parley: The slug "taken" belongs to another organization: choose another one\n',
    })
  })
})

describe('org list', () => {
  it('shows what the admin API lists', async () => {
    await create('listed')
    const listed = await world.admin('GET', '/organizations')
    expect((await org(['list', '--json'])).json()).toEqual(listed.body.organizations)
    const table = (await org(['list'])).out.split('\n')
    expect(table[0]).toMatch(/^id +slug +name +provider +country +created_at +suspended$/)
    expect(table.filter((line) => / listed +Shop listed +- +BR +2\S+ +-$/.test(line))).toHaveLength(1)
  })

  it('keeps a name from breaking its line or controlling the terminal', async () => {
    const name = 'two\nlines\u001b[31m'
    await world.admin('POST', '/organizations', { name, slug: 'steering' })
    const { out } = await org(['list'])
    expect(out).toContain('two lines [31m')
    expect(out).not.toContain('\u001b')
  })
})

describe('org show', () => {
  it('finds an organization by its id and by its slug', async () => {
    const made = await create('found')
    expect((await org(['show', 'found', '--json'])).json()).toEqual(made)
    expect((await org(['show', made.id, '--json'])).json()).toEqual(made)
    expect((await org(['show', made.id.toUpperCase(), '--json'])).json()).toEqual(made)
  })

  it.each(['nowhere', NO_ID, ''])('ends with 1 for "%s"', async (name) => {
    expect(await org(['show', name])).toMatchObject({
      code: 1,
      out: '',
      err: `parley: There is no organization with the id or slug "${name}"\n`,
    })
  })
})

describe('org update', () => {
  it('changes the given values and leaves the rest', async () => {
    const { id } = await create('before', '--provider', 'gateway', '--country', 'IT')
    const changed = await org(['update', 'before', '--slug', 'after', '--provider', 'none', '--json'])
    expect(changed.json()).toMatchObject({ id, slug: 'after', provider: null, default_country: 'IT' })
    expect(await org(['show', 'before'])).toMatchObject({ code: 1 })
    expect((await org(['show', 'after', '--json'])).json()).toEqual(changed.json())
  })

  it('ends with 2 for invalid values and for none', async () => {
    await create('unchanged')
    expect(await org(['update', 'unchanged', '--country', 'ZZ'])).toMatchObject({ code: 2, out: '' })
    const nothing = await org(['update', 'unchanged'])
    expect(nothing).toMatchObject({ code: 2, out: '' })
    expect(nothing.err).toMatch(/^parley: There is nothing to change/)
  })

  it("ends with 1 for an unknown organization and for another's slug", async () => {
    await create('mine')
    await create('yours')
    expect(await org(['update', 'nowhere', '--name', 'x'])).toMatchObject({ code: 1 })
    expect(await org(['update', 'mine', '--slug', 'yours'])).toMatchObject({ code: 1 })
  })
})

describe('org hold', () => {
  it('sets and releases a legal hold, and remembers it', async () => {
    await create('held')
    const held = await org(['hold', 'held', '--reason', 'Case 12/2026', '--by', 'Ana'])
    expect(held).toMatchObject({ code: 0, err: '' })
    expect(held.out).toMatch(/^legal_hold +since 2\S+Z, by Ana: Case 12\/2026$/m)
    expect(await org(['delete', 'held', '--yes'])).toMatchObject({ code: 1, out: '' })
    expect(await org(['holds', 'held'])).toMatchObject({ code: 0, out: '(none)\n' })
    expect((await org(['release', 'held', '--by', 'Bea', '--json'])).json()).toMatchObject({ legal_hold: null })
    const [past] = (await org(['holds', 'held', '--json'])).json()
    expect(past).toMatchObject({ reason: 'Case 12/2026', by: 'Ana', released_by: 'Bea' })
  })

  it('ends with 2 without a reason, and with 1 if none is on', async () => {
    await create('free')
    expect(await org(['hold', 'free'])).toMatchObject({ code: 2, out: '' })
    expect(await org(['hold', 'free', '--reason', 'r'.repeat(501)])).toMatchObject({ code: 2, out: '' })
    expect((await org(['release', 'free'])).err).toBe('parley: No legal hold is on the organization "free"\n')
  })
})

describe('org update --message-retention', () => {
  it('sets days and turns them off', async () => {
    await create('tidy')
    const set = await org(['update', 'tidy', '--message-retention', '365', '--media-retention', '90', '--json'])
    expect(set.json()).toMatchObject({ message_retention_days: 365, media_retention_days: 90 })
    const off = await org(['update', 'tidy', '--message-retention', 'off', '--json'])
    expect(off.json()).toMatchObject({ message_retention_days: null, media_retention_days: 90 })
  })

  it.each(['0', '3651', 'never'])('ends with 2 for %s', async (days) => {
    const refused = await org(['update', 'tidy', '--message-retention', days])
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(/^parley: --message-retention must be a whole number from 1 to 3650/)
  })
})

describe('org delete', () => {
  it('asks for --yes', async () => {
    await create('kept')
    const refused = await org(['delete', 'kept'])
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain('add --yes')
    expect(await org(['show', 'kept'])).toMatchObject({ code: 0 })
  })

  it('deletes the organization with all its data, and no other', async () => {
    const gone = await world.createOrganization()
    const other = await world.createOrganization()
    expect(await org(['delete', gone.slug, '--yes'])).toMatchObject({ code: 0, err: '' })
    expect(await world.request('GET', '/contact?chat_id=5511987654321', { key: gone.key })).toMatchObject({
      status: 404,
      body: { error: 'Organization not found' },
    })
    expect(await world.request('GET', '/contact?chat_id=5511987654321', { key: other.key })).toMatchObject({
      body: { error: 'Contact not found' },
    })
  })

  it('ends with 1 for an unknown organization', async () => {
    expect(await org(['delete', 'nowhere', '--yes'])).toMatchObject({ code: 1, out: '' })
  })
})

describe('org upstream', () => {
  const credentials = {
    phone_number_id: '100000000000001',
    business_account_id: '200000000000001',
    access_token: 'token-of-the-command-line',
    app_secret: 'secret-of-the-command-line',
    verify_token: 'verify-of-the-command-line',
  }

  it('connects a number that the running service then sends from', async () => {
    const { id } = await create('sending')
    const connected = await org(['upstream', 'sending', '--json'], JSON.stringify(credentials))
    expect(connected).toMatchObject({ code: 0, err: '' })
    const { phone_number_id, business_account_id } = credentials
    expect(connected.json()).toEqual({
      phone_number_id,
      business_account_id,
      messages_per_second: 80,
      pair_limit: true,
    })

    await world.sim('PUT', `/numbers/${phone_number_id}`, {
      access_token: credentials.access_token,
      app_secret: credentials.app_secret,
      callback_url: `${world.app.url}/hooks/upstream`,
    })
    const issued = await world.admin('POST', `/organizations/${id}/keys`, { name: 'test' })
    const { key } = issued.body.api_key
    await world.request('POST', '/contact', { key, body: { phone_number: '+5511987654321' } })
    const body = { phone_number: '5511987654321', message_type: 'text', text: 'hello' }
    expect(await world.request('POST', '/send-chat', { key, body })).toMatchObject({ status: 200 })
  })

  it('prints no secret', async () => {
    await create('discreet')
    const settings = { ...credentials, phone_number_id: '3', business_account_id: '4' }
    const { out, err } = await org(['upstream', 'discreet'], JSON.stringify(settings))
    expect(out).toMatch(/^phone_number_id +3\n/)
    expect(out + err).not.toContain('of-the-command-line')
  })

  it('says when the sandbox learns about the number', async () => {
    await create('sandboxed')
    const settings = JSON.stringify({ ...credentials, phone_number_id: '5', business_account_id: '6' })
    const connected = await run(
      ['org', 'upstream', 'sandboxed', '--json'],
      { ...env, PARLEY_UPSTREAM_URL: 'sandbox' },
      settings,
    )
    expect(connected).toMatchObject({ code: 0 })
    expect(connected.json()).toMatchObject({ phone_number_id: '5' })
    expect(connected.err).toContain('registers this number with its sandbox within a few seconds')
  })

  it.each([
    ['', /^parley: Standard input is not JSON/],
    ['{"phone_number_id": ', /^parley: Standard input is not JSON/],
    ['[]', /^parley: Standard input must be a JSON object/],
    ['{}', /^parley: phone_number_id is required/],
    [JSON.stringify({ ...credentials, app_secret: '' }), /^parley: app_secret is required and must not be empty/],
    [JSON.stringify({ ...credentials, verify_token: 7 }), /^parley: verify_token must be string/],
    [
      JSON.stringify({ ...credentials, mesages_per_second: 10 }),
      /^parley: The field mesages_per_second is not known\. Did you mean messages_per_second\?/,
    ],
    [
      JSON.stringify({ ...credentials, access_token: undefined, acces_token: 'x' }),
      /^parley: The field acces_token is not known\. Did you mean access_token\?/,
    ],
    [JSON.stringify({ ...credentials, access_token: 'a\0b' }), /^parley: access_token holds a character/],
    [
      JSON.stringify({ ...credentials, messages_per_second: -1 }),
      /^parley: messages_per_second must be a whole number from 0 to 10000/,
    ],
  ])('ends with 2 and one line for %j', async (input, complaint) => {
    const refused = await org(['upstream', 'sending'], input)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
    expect(refused.err.trimEnd()).not.toContain('\n')
  })

  it("ends with 1 for an unknown organization and for another's number", async () => {
    const other = await world.createOrganization()
    await create('claiming')
    const theirs = JSON.stringify({ ...credentials, phone_number_id: other.phoneNumberId })
    expect(await org(['upstream', 'claiming'], theirs)).toMatchObject({
      code: 1,
      out: '',
      err: `parley: The phone_number_id ${other.phoneNumberId} is claimed by another organization\n`,
    })
    expect(await org(['upstream', 'nowhere'], JSON.stringify(credentials))).toMatchObject({ code: 1, out: '' })
  })
})

describe('org storefront', () => {
  const settings = {
    url: 'https://shop.example',
    access_token: 'token-of-the-shop',
    webhook_secret: 'secret-of-the-shop',
  }

  it('connects the storefront and prints no secret', async () => {
    const { id } = await create('selling')
    const connected = await org(['storefront', 'selling', '--json'], JSON.stringify(settings))
    expect(connected).toMatchObject({ code: 0, err: '' })
    expect(connected.json()).toEqual({ url: settings.url })
    const { rows } = await world.database.pool.query('SELECT url FROM storefront_settings WHERE organization_id = $1', [
      id,
    ])
    expect(rows).toEqual([{ url: settings.url }])
  })

  it('ends with 2 for an invalid value, with 1 for an unknown organization', async () => {
    const refused = await org(['storefront', 'selling'], JSON.stringify({ ...settings, url: 'shop' }))
    const words = 'url must be an http or https URL without user name, query and fragment'
    expect(refused).toMatchObject({ code: 2, out: '', err: `parley: ${words}\n` })
    const misspelt = await org(['storefront', 'selling'], JSON.stringify({ ...settings, weebhook_secret: 'x' }))
    const told = 'The field weebhook_secret is not known. Did you mean webhook_secret?'
    expect(misspelt).toMatchObject({ code: 2, out: '', err: `parley: ${told}\n` })
    expect(await org(['storefront', 'nowhere'], JSON.stringify(settings))).toMatchObject({ code: 1, out: '' })
  })
})
