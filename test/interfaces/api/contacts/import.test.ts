import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { requestAsDescribed } from '../../../support/openapi.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
const other = useOrganization(world)
let number: string
let numbers = 0

/** An unused Brazilian mobile number. */
const newNumber = () => `551197${String(1_000 + ++numbers).padStart(7, '0')}`

beforeEach(() => {
  number = newNumber()
})

interface Extra {
  query?: string
  key?: string
  headers?: Record<string, string>
}

function send(csv: string, { query = '', key = organization.key, headers = {} }: Extra = {}) {
  const all = { 'content-type': 'text/csv', ...headers }
  return request('POST', `/contacts/import${query}`, { key, body: csv, headers: all })
}

async function imported(csv: string, extra?: Extra) {
  const answer = await send(csv, extra)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

async function contactOf(chatId: string, key = organization.key) {
  return (await request('GET', `/contact?chat_id=${chatId}`, { key })).body.contact
}

async function count(table: string): Promise<number> {
  const { rows } = await world.database.pool.query(`SELECT count(*)::int AS count FROM ${table}`)
  return rows[0].count
}

describe('POST /contacts/import', () => {
  it('creates the same contacts as POST /contact, and reports each row', async () => {
    const second = newNumber()
    const csv = `phone_number,full_name,email,tags,allow_broadcast\r\n+${number},Ana Souza,ana@example.com,vip;são paulo,no\r\n${second},,,,\r\n`
    const { summary, results } = await imported(csv)
    expect(summary).toEqual({ total: 2, created: 2, updated: 0, unchanged: 0, skipped: 0, failed: 0 })
    const ana = await contactOf(number)
    expect(results).toEqual([
      { row: 2, status: 'created', chat_id: number, id: ana.id },
      { row: 3, status: 'created', chat_id: second, id: expect.any(String) },
    ])
    expect(ana).toMatchObject({
      full_name: 'Ana Souza',
      email: 'ana@example.com',
      tags: ['vip', 'são paulo'],
      allow_broadcast: false,
      phone_number: `+${number}`,
      source: { type: 'import', created_at: expect.stringMatching(/Z$/) },
    })
    expect((await eventsOfContact(world, ana.id)).map(({ type }) => type)).toEqual(['contact.created'])
    expect(await contactOf(second)).toMatchObject({ full_name: null, email: null, tags: [], allow_broadcast: true })
  })

  it('creates contacts that are listed, counted and found by name', async () => {
    const before = (await request('GET', '/conversations?action=contacts', { key: organization.key })).body
    await imported(`phone,name\n${number},Íris Peçanha\n`)
    const list = (await request('GET', '/conversations?action=contacts', { key: organization.key })).body
    expect(list.pagination.totalContacts).toBe(before.pagination.totalContacts + 1)
    expect(list.contacts[0].chat_id).toBe(number)
    const found = await request('GET', '/conversations?action=contacts&search=iris%20pecanha', {
      key: organization.key,
    })
    expect(found.body.contacts.map(({ chat_id }: { chat_id: string }) => chat_id)).toEqual([number])
  })

  it('updates existing contacts with non-empty cells, and reports unchanged ones', async () => {
    await imported(`phone_number,full_name,email,contact_summary\n${number},Ana,ana@example.com,Likes tea\n`)
    const before = await contactOf(number)
    const again = await imported(`phone_number,full_name,email\n${number},Ana,ana@example.com\n`)
    expect(again.results[0]).toEqual({ row: 2, status: 'unchanged', chat_id: number, id: before.id })
    expect(await contactOf(number)).toEqual(before)
    const changed = await imported(`phone_number,full_name,email,archived\n${number},Eva,,TRUE\n`)
    expect(changed.results[0]).toEqual({ row: 2, status: 'updated', chat_id: number, id: before.id })
    expect(await contactOf(number)).toEqual({
      ...before,
      full_name: 'Eva',
      archived: true,
      updated_at: expect.any(String),
    })
    const events = await eventsOfContact(world, before.id)
    expect(events.map(({ type }) => type)).toEqual(['contact.created', 'contact.updated'])
    expect(events[1]?.data.contact).toMatchObject({ full_name: 'Eva', email: 'ana@example.com' })
  })

  it('leaves existing contacts unchanged with existing=skip', async () => {
    const made = await imported(`phone_number,full_name\n${number},Ana\n`)
    const fresh = newNumber()
    const { results } = await imported(`phone_number,full_name\n${number},Eva\n${fresh},Eva\n`, {
      query: '?existing=skip',
    })
    expect(results.map(({ status }: { status: string }) => status)).toEqual(['skipped', 'created'])
    expect(results[0]).toMatchObject({ chat_id: number, id: made.results[0].id })
    expect((await contactOf(number)).full_name).toBe('Ana')
  })

  it('finds a contact by any form of its number, and stores the forms in the file', async () => {
    const area = `55119${number.slice(5)}`
    const oldForm = `5511${area.slice(5)}`
    const national = `011 9${area.slice(5, 9)}-${area.slice(9)}`
    const { results } = await imported(`phone_number,full_name\n${area},Ana\n${oldForm},Eva\n${national},Ida\n`)
    expect(results.map(({ status }: { status: string }) => status)).toEqual(['created', 'updated', 'updated'])
    expect(new Set(results.map(({ id }: { id: string }) => id)).size).toBe(1)
    expect((await contactOf(oldForm)).full_name).toBe('Ida')
  })

  it('lets later rows refer to earlier ones', async () => {
    const csv = `phone_number,full_name,email\n${number},Ana,\n${number},,a@example.com\n${number},Ana,a@example.com\n${number},Eva,\n`
    const { results, summary } = await imported(csv)
    expect(results.map(({ status }: { status: string }) => status)).toEqual([
      'created',
      'updated',
      'unchanged',
      'updated',
    ])
    expect(summary).toMatchObject({ total: 4, created: 1, updated: 2, unchanged: 1 })
    expect(await contactOf(number)).toMatchObject({ full_name: 'Eva', email: 'a@example.com' })
  })

  it('processes rows in order if two numbers lead to one contact', async () => {
    const alias = newNumber()
    const { id } = (await imported(`phone_number\n${number}\n`)).results[0]
    await world.database.pool.query(
      'INSERT INTO contact_addresses (organization_id, address, contact_id) VALUES ($1, $2, $3)',
      [organization.id, alias, id],
    )
    const { results } = await imported(`phone_number,full_name\n${number},One\n${alias},Two\n`)
    expect(results).toMatchObject([
      { row: 2, status: 'updated', id },
      { row: 3, status: 'updated', id },
    ])
    expect((await contactOf(number)).full_name).toBe('Two')
  })

  it('reports invalid rows with the errors of POST /contact, and imports all others', async () => {
    const rows: [row: string, error: string, message: RegExp, value?: string][] = [
      ['12,,,,', 'Invalid field', /phone_number "12" is not a possible phone number/, '12'],
      [',Ana,,,', 'Missing required field', /phone_number \(or chat_id, or user_id\) is required/],
      [
        `${newNumber()},${'x'.repeat(256)},,,`,
        'Invalid field',
        /full_name must have at most 255 characters/,
        'x'.repeat(64),
      ],
      [`${newNumber()},,nobody,,`, 'Invalid field', /email must be an e-mail address/, 'nobody'],
      [
        `${newNumber()},,,${'x'.repeat(101)},`,
        'Invalid field',
        /tags\[0\] must have at most 100 characters/,
        'x'.repeat(64),
      ],
      [`${newNumber()},,,,perhaps`, 'Invalid field', /allow_broadcast must be true or false/, 'perhaps'],
      [`${newNumber()},a\0b,,,`, 'Invalid field', /full_name holds a character/, 'a\ufffdb'],
      [`${newNumber()},,,,,surplus`, 'Invalid CSV', /6 cells, and the header 5/],
    ]
    const before = await count('contacts')
    const header = 'phone_number,full_name,email,tags,allow_broadcast'
    const { summary, results } = await imported([header, ...rows.map(([row]) => row), number, ''].join('\n'))
    expect(summary).toMatchObject({ total: 9, created: 1, failed: 8 })
    rows.forEach(([, error, message, value], index) => {
      expect(results[index]).toEqual({
        row: index + 2,
        status: 'failed',
        chat_id: null,
        id: null,
        error,
        message: expect.stringMatching(message),
        ...(value !== undefined && { value }),
      })
    })
    expect(results[8]).toMatchObject({ row: 10, status: 'created', chat_id: number })
    expect(await count('contacts')).toBe(before + 1)
  })

  it('counts rows as a spreadsheet does, including blank ones and line breaks in cells', async () => {
    const second = newNumber()
    const csv = `phone_number,contact_summary\r\n${number},"two\r\nlines, ""quoted"""\r\n\r\n,\r\n${second},x\r\n`
    const { results } = await imported(csv)
    expect(results.map(({ row }: { row: number }) => row)).toEqual([2, 5])
    expect((await contactOf(number)).contact_summary).toBe('two\r\nlines, "quoted"')
  })

  it.each([
    ['semicolons', ';', 'vip|new'],
    ['tabs', '\t', 'vip;new'],
    ['commas', ',', 'vip;new'],
    ['commas and a JSON array', ',', '"[""vip"",""new""]"'],
  ])('reads a file with %s, a byte order mark, another column order and unknown columns', async (_name, mark, tags) => {
    const rows = [
      ['Unknown', 'E-Mail', ' Phone Number ', 'TAGS', 'Name'],
      ['x', 'ana@example.com', `'+${number}`, tags, "'=Ana"],
    ]
    await imported(`\uFEFF${rows.map((row) => row.join(mark)).join('\r\n')}`)
    expect(await contactOf(number)).toMatchObject({ email: 'ana@example.com', tags: ['vip', 'new'], full_name: '=Ana' })
  })

  it('keeps a source from the file', async () => {
    await imported(`chat_id,source\n${number},"{""type"":""fair"",""location"":{""city"":""Recife""}}"\n`)
    expect((await contactOf(number)).source).toEqual({ type: 'fair', location: { city: 'Recife' } })
  })

  it('updates a person without a number, but creates none', async () => {
    const { results } = await imported('chat_id,full_name\n01234567890123456789,Ana\n')
    expect(results[0]).toMatchObject({ row: 2, status: 'failed', error: 'Contact not found', chat_id: null })
  })

  it("never shows or changes another organization's contact with the same number", async () => {
    const theirs = (await imported(`phone_number,full_name\n${number},Theirs\n`, { key: other.key })).results[0]
    const before = await contactOf(number, other.key)
    const mine = (await imported(`phone_number,full_name\n${number},Mine\n`)).results[0]
    expect(mine.status).toBe('created')
    expect(mine.id).not.toBe(theirs.id)
    expect(await contactOf(number, other.key)).toEqual(before)
  })

  it('creates each contact once if files and callbacks contain the same numbers', async () => {
    const all = Array.from({ length: 40 }, newNumber)
    const file = (name: string) => `phone_number,full_name\n${all.map((one) => `${one},${name}`).join('\n')}\n`
    const single = (one: string) => request('POST', '/contact', { key: organization.key, body: { phone_number: one } })
    const [one, two, three, ...singles] = await Promise.all([
      send(file('One')),
      send(file('Two')),
      send(file('Three')),
      ...all.map(single),
    ])
    for (const answer of [one, two, three]) expect(answer?.body.summary).toMatchObject({ total: 40, failed: 0 })
    for (const { status } of singles) expect([201, 409]).toContain(status)
    const { rows } = await world.database.pool.query(
      'SELECT count(*)::int AS addresses, count(DISTINCT contact_id)::int AS contacts FROM contact_addresses WHERE address = ANY ($1)',
      [all],
    )
    expect(rows[0]).toEqual({ addresses: 40, contacts: 40 })
  })
})

describe('a file of another program', () => {
  const utf16 = (text: string, mark = '') => Buffer.from(mark + text, 'utf16le')
  const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16()
  const importBytes = async (bytes: Buffer, type = 'text/csv') => {
    const response = await fetch(`${world.app.url}/contacts/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organization.key}`, 'content-type': type },
      body: new Uint8Array(bytes),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const table = (name: string) => `Telefone;Nome\r\n+${number};${name}\r\n`

  it.each<[string, (text: string) => Buffer, string?]>([
    ['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE', (text) => utf16(text, '\ufeff')],
    ['UTF-16 BE', (text) => swapped(utf16(text, '\ufeff'))],
    ['UTF-16 LE without a mark', utf16],
    ['UTF-16 BE without a mark', (text) => swapped(utf16(text))],
    ['Latin-1', (text) => Buffer.from(text, 'latin1')],
    ['Latin-1 that is declared', (text) => Buffer.from(text, 'latin1'), 'text/csv; charset=ISO-8859-1'],
    ['Latin-1 that is declared as UTF-8', (text) => Buffer.from(text, 'latin1'), 'text/csv; charset=utf-8'],
  ])('is read in %s', async (_encoding, encode, type) => {
    expect((await importBytes(encode(table('João Conceição')), type)).body).toMatchObject({ summary: { created: 1 } })
    expect((await contactOf(number)).full_name).toBe('João Conceição')
  })

  it('is read in Windows-1252', async () => {
    const bytes = Buffer.from(table('Zo\xeb \x93Zo\x94 \x80'), 'latin1')
    expect((await importBytes(bytes)).status).toBe(200)
    expect((await contactOf(number)).full_name).toBe('Zoë “Zo” €')
  })

  it.each<[string, Buffer, RegExp]>([
    [
      'UTF-8 with one byte that is not',
      Buffer.concat([Buffer.from('phone,name\n5511970009999,João\n5511970009998,Jo'), Buffer.from([0xe3, 0x6f, 0x0a])]),
      /^Line 3 of the file has a byte that is not UTF-8/,
    ],
    [
      'a mark of UTF-8 before Latin-1',
      Buffer.concat([Buffer.from('\ufeffphone,name\n'), Buffer.from('5511970009999,Jo\xe3o\n', 'latin1')]),
      /^Line 2 of the file/,
    ],
    [
      'a workbook',
      Buffer.from('PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0\xdf\xa4\xd2', 'latin1'),
      /"CSV UTF-8", not as a workbook/,
    ],
  ])('is refused: %s', async (_what, bytes, message) => {
    const before = await count('contacts')
    const { status, body } = await importBytes(bytes)
    expect([status, body.error, body.message]).toEqual([400, 'Invalid CSV', expect.stringMatching(message)])
    expect(await count('contacts')).toBe(before)
  })

  it('may have no headings: numbers, and names beside them', async () => {
    const second = newNumber()
    const { summary, results } = await imported(`+${number}\tAna "Nina" Souza\n+${second}\n12\n`)
    expect([summary.created, results[2]]).toEqual([
      2,
      expect.objectContaining({ row: 3, status: 'failed', value: '12' }),
    ])
    expect((await contactOf(number)).full_name).toBe('Ana "Nina" Souza')
  })

  it('of Shopify has names, the number of the customer, and tags between commas', async () => {
    const shopify =
      'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address City,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags'
    const row = `'7012,Ana,Souza,ana@example.com,yes,,Rua A 1,Recife,+551133334444,'+${number},no,0.00,0,,no,"vip, newsletter"`
    const { warnings } = await imported(`${shopify}\n${row}\n`)
    expect(await contactOf(number)).toMatchObject({
      full_name: 'Ana Souza',
      email: 'ana@example.com',
      tags: ['vip', 'newsletter'],
    })
    expect(warnings).toContain('The column "Total Spent" is not known and was ignored.')
  })
})

describe('an invalid file', () => {
  it.each([
    ['nothing', '', 'Invalid CSV', /empty/],
    ['no number', 'full_name,email\nAna,a@example.com\n', 'Missing required field', /^phone_number \(or chat_id\)/],
    ['other columns', ';Cidade;UF\n1;Rio;RJ\n', 'Missing required field', /Telefone.* it has "Cidade", "UF"$/],
    ['only area codes', 'DDD;Nome\n11;Ana\n', 'Missing required field', /it has "DDD", "Nome"$/],
    ['a column twice', 'phone,blocked,Blocked\n1,yes,no\n', 'Invalid CSV', /names blocked twice/],
    ['JSON', '[{"phone_number":"5511987654321"}]', 'Missing required field', /it has "\[\{"phone_number/],
    [
      'a quote that does not end',
      'phone_number\n5511970009999\n"5511970009998\n',
      'Invalid CSV',
      /Row 3 .*does not end/,
    ],
    [
      'a cell without end',
      `phone_number\n"${'x'.repeat(1_100_000)}`,
      'Invalid CSV',
      /Row 2 .*longer than 262144 bytes/,
    ],
  ])('returns 400 for %s, and imports nothing', async (_name, csv, error, message) => {
    const before = await count('contacts')
    const answer = await send(csv)
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toMatch(message)
    expect(await count('contacts')).toBe(before)
  })

  it.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/vnd.ms-excel'])(
    'returns 415 for %s, naming the accepted types',
    async (type) => {
      const answer = await send('{}', { headers: { 'content-type': type } })
      expect([answer.status, answer.body.error]).toEqual([415, 'Unsupported media type'])
      expect(answer.body.message).toContain('text/csv')
    },
  )

  it.each<Record<string, string>>([
    { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
    { 'content-type': 'text/csv; charset=windows-1251' },
  ])('returns 415 for %j', async (headers) => {
    const answer = await send(`phone\n${number}\n`, { headers })
    expect([answer.status, answer.body.error]).toEqual([415, 'Unsupported media type'])
    expect(await contactOf(number)).toBeUndefined()
  })

  it('may be text/csv with parameters; other endpoints accept JSON only', async () => {
    expect((await send(`phone\n${number}\n`, { headers: { 'content-type': 'Text/CSV; charset=utf-8' } })).status).toBe(
      200,
    )
    const options = { key: organization.key, body: 'x', headers: { 'content-type': 'text/csv' } }
    expect((await request('POST', '/contact', options)).status).toBe(415)
  })

  it('returns 413 beyond 512 MB, before it is sent', async () => {
    const size = 512 * 1_048_576 + 1
    const sending = http.request(`${world.app.url}/contacts/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'text/csv', 'content-length': size },
    })
    sending.write('phone_number\n')
    const [answer] = await once(sending, 'response')
    expect([answer.statusCode, JSON.parse(await text(answer)).error]).toEqual([413, 'Payload too large'])
    sending.on('error', () => undefined).destroy()
  })

  it('imports nothing if the upload breaks off', async () => {
    const sending = http.request(`${world.app.url}/contacts/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'text/csv' },
    })
    sending.on('error', () => undefined)
    const spooled = () => readdir(join(world.dataDir, 'spool')).catch(() => [])
    sending.write(`phone_number\n${number}\n`)
    await expect.poll(spooled).toHaveLength(1)
    sending.destroy()
    await expect.poll(spooled).toHaveLength(0)
    expect(await contactOf(number)).toBeUndefined()
  })

  it.each(['?existing=replace', '?existing=skip&existing=skip'])('returns 400 for %s', async (query) => {
    const answer = await send(`phone_number\n${number}\n`, { query })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid parameter'])
    expect(await contactOf(number)).toBeUndefined()
  })
})

describe('Idempotency-Key', () => {
  const once = (csv: string, extra: Extra = {}) => send(csv, { headers: { 'idempotency-key': number }, ...extra })
  const isReplayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed') === 'true'

  it('returns the first report again, and imports nothing again', async () => {
    const csv = `phone_number,full_name\n${number},Ana\n12,x\n`
    const first = await once(csv)
    await request('PATCH', `/contact?chat_id=${number}`, { key: organization.key, body: { full_name: 'Eva' } })
    const again = await once(csv)
    expect([isReplayed(first), isReplayed(again)]).toEqual([false, true])
    expect(again.body).toEqual(first.body)
    expect((await contactOf(number)).full_name).toBe('Eva')
  })

  it('returns 422 for another file or other options', async () => {
    await once(`phone_number\n${number}\n`)
    for (const answer of [
      await once(`phone_number\n${number}\n\n`),
      await once(`phone_number\n${number}\n`, { query: '?existing=skip' }),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([422, 'Idempotency key reused'])
    }
  })

  it('keeps the failed rows of a long report', async () => {
    const rows = Array.from({ length: 12_000 }, (_, index) => (index % 4_000 === 0 ? '12' : newNumber()))
    const unique = `phone_number\n${rows.join('\n')}\n`
    const first = await once(unique)
    expect(first.body.summary).toMatchObject({ total: 12_000, failed: 3 })
    expect(first.body.results).toHaveLength(12_000)
    expect(first.body).not.toHaveProperty('results_truncated')
    const again = await once(unique)
    expect([isReplayed(again), again.body.results.length]).toEqual([true, 3])
    expect(again.body).toEqual({
      success: true,
      summary: first.body.summary,
      failures: first.body.failures,
      doubtful: [],
      results: first.body.results.filter(({ status }: { status: string }) => status === 'failed'),
      results_truncated: true,
    })
  })

  it('deletes a report that names an erased contact', async () => {
    const csv = `phone_number\n${number}\n`
    await once(csv)
    await request('DELETE', `/contact?chat_id=${number}`, { key: organization.key })
    const { rows } = await world.database.pool.query('SELECT FROM idempotency_keys WHERE key = $1', [number])
    expect(rows).toEqual([])
  })
})

it('names the failures first, and the ignored columns', async () => {
  const [one, two] = [newNumber(), newNumber()]
  const csv = `phone,City,full nme\n${one},Santos,Ana\nhello,,\n${two},Rio,Bia\n`
  const { body } = await send(csv, { query: '?existng=skip' })
  expect(Object.keys(body)).toEqual(['success', 'summary', 'warnings', 'failures', 'doubtful', 'results'])
  expect(body.warnings).toEqual([
    'The parameter existng is not known and was ignored. Did you mean existing?',
    'The column "City" is not known and was ignored.',
    'The column "full nme" is not known and was ignored. Did you mean full_name?',
  ])
  expect(body.failures).toEqual([body.results[1]])
  expect(body.results.map(({ status }: { status: string }) => status)).toEqual(['created', 'failed', 'created'])
})

it('consecutive small imports make PostgreSQL analyse the contacts once', async () => {
  const analyses = async () => {
    await world.database.pool.query('SELECT pg_stat_force_next_flush()')
    const { rows } = await world.database.pool.query<{ count: number }>(
      "SELECT analyze_count AS count FROM pg_stat_user_tables WHERE relid = 'contacts'::regclass",
    )
    return rows[0]?.count ?? 0
  }
  // The imports above may have triggered ANALYZE within the last minute.
  await world.database.pool.query("SELECT pg_stat_reset_single_table_counters('contacts'::regclass)")
  for (let file = 0; file < 3; file++) {
    const csv = ['phone_number', ...Array.from({ length: 1_000 }, newNumber)].join('\n')
    expect((await send(csv)).body.summary.created).toBe(1_000)
  }
  expect(await analyses()).toBe(1)
})

describe('a user id in a file', () => {
  const newUserId = () => `US.77001122${newNumber()}`
  const find = async (userId: string) =>
    (await request('GET', `/contact?user_id=${userId}`, { key: organization.key })).body

  it('beside a number is of the contact that is created', async () => {
    const userId = newUserId()
    await imported(`phone_number,user_id\n+${number},${userId}\n`)
    expect((await find(userId)).contact).toMatchObject({ chat_id: number, user_id: userId })
    await imported(`phone_number,user_id,full_name\n,${userId},Una\n`)
    expect((await find(userId)).contact).toMatchObject({ chat_id: number, full_name: 'Una' })
  })

  it('of another contact, or twice in the file, is of the first one only', async () => {
    const userId = newUserId()
    const [second, third] = [newNumber(), newNumber()]
    await imported(`phone_number,user_id\n+${number},${userId}\n+${second},${userId}\n`)
    await imported(`phone_number,user_id\n+${third},${userId}\n`)
    expect((await find(userId)).contact).toMatchObject({ chat_id: number })
    for (const chatId of [second, third]) expect(await contactOf(chatId)).toMatchObject({ user_id: null })
  })

  it('of nobody is named, with what to do', async () => {
    const userId = newUserId()
    const { results } = await imported(`phone_number,user_id,full_name\n,${userId},Una\n`)
    expect(results).toMatchObject([
      {
        status: 'failed',
        error: 'Contact not found',
        message: `No contact with user_id ${userId}: create it with POST /contact, or it becomes one with its first message`,
      },
    ])
  })
})
