import { once } from 'node:events'
import http from 'node:http'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CONTACT_FIELDS } from '../../../support/contacts.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
const other = useOrganization(world)

let numbers = 0
const newNumber = () => `551196${String(1_000 + ++numbers).padStart(7, '0')}`

const create = (body: object, key = organization.key) => request('POST', '/contact', { key, body })

/** The bytes of an export, as text with its byte order mark. */
async function download(path: string, key = organization.key) {
  const response = await fetch(`${world.app.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const text = Buffer.from(await response.arrayBuffer()).toString('utf8')
  return { status: response.status, headers: response.headers, text }
}

const rowsOf = (text: string): Record<string, string>[] => parse(text, { bom: true, columns: true })

function importCsv(csv: string, key: string) {
  return request('POST', '/contacts/import', { key, body: csv, headers: { 'content-type': 'text/csv' } })
}

describe('GET /contacts/export', () => {
  it('returns every contact of the organization and no other, with every field', async () => {
    const { key } = await world.createOrganization()
    const mine = await create(
      { phone_number: newNumber(), full_name: 'Ana', tags: ['a', 'b'], source: { type: 'x' } },
      key,
    )
    const second = await create({ phone_number: newNumber(), full_name: 'Eva "E", \n=1+1' }, key)
    await create({ phone_number: newNumber() }, other.key)
    const json = await request('GET', '/contacts/export?format=json', { key })
    expect(json.body).toEqual({ success: true, contacts: [mine.body.contact, second.body.contact] })
    expect(json.headers.get('content-disposition')).toBe('attachment; filename="contacts.json"')

    const { headers, text } = await download('/contacts/export', key)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="contacts.csv"')
    expect(text.startsWith(`\uFEFF${CONTACT_FIELDS.join(',')}\r\n`)).toBe(true)
    expect(text.endsWith('\r\n')).toBe(true)
    const [ana, eva] = rowsOf(text)
    const { contact } = mine.body
    expect(ana).toEqual({
      ...Object.fromEntries(
        CONTACT_FIELDS.map((field) => [field, contact[field] === null ? '' : String(contact[field])]),
      ),
      tags: 'a;b',
      source: '{"type":"x"}',
      referral: '',
    })
    expect(eva?.full_name).toBe('Eva "E", \n=1+1')
  })

  it('returns an empty document without contacts', async () => {
    const { key } = await world.createOrganization()
    expect((await download('/contacts/export', key)).text).toBe(`\uFEFF${CONTACT_FIELDS.join(',')}\r\n`)
    expect((await download('/contacts/export?format=json', key)).text).toBe('{"success":true,"contacts":[]}')
  })

  it('writes no cell that a spreadsheet takes for a formula, and phone numbers unchanged', async () => {
    const { key } = await world.createOrganization()
    const names = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', '＝1', "'=1", "plain 'x'", '5=5']
    const made = []
    for (const full_name of names) made.push((await create({ phone_number: newNumber(), full_name }, key)).body.contact)
    const rows = rowsOf((await download('/contacts/export', key)).text)
    const guarded = ["'=1+1", '+1', "'-1", "'@x", "'\tx", "'\rx", "'＝1", "''=1", "plain 'x'", '5=5']
    expect(rows.map(({ full_name }) => full_name)).toEqual(guarded)
    expect(rows.map(({ phone_number }) => phone_number)).toEqual(made.map(({ phone_number }) => phone_number))
  })

  it('answers HEAD with the headers only', async () => {
    const answer = await world.request('HEAD', '/contacts/export', { key: organization.key })
    expect([answer.status, answer.body]).toEqual([200, ''])
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="contacts.csv"')
  })

  it('returns 400 for an unknown format', async () => {
    const answer = await request('GET', '/contacts/export?format=xlsx', { key: organization.key })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid parameter'])
  })
})

describe('export, import, export', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  const tricky = fc.stringMatching(/^['=+\-@;|,"[\]\t\n\r a]{1,8}$/)
  const word = fc.oneof(text, tricky)
  const contact = fc.record(
    {
      full_name: word,
      email: fc.constantFrom('a@example.com', '=a@example.com', '-x@y'),
      tags: fc.uniqueArray(word, { maxLength: 3 }),
      allow_broadcast: fc.boolean(),
      source: fc.record({ type: word, location: fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }) }),
      change: fc.record({
        archived: fc.boolean(),
        blocked: fc.boolean(),
        bot_status: fc.constantFrom('active', 'paused', null),
        contact_summary: fc.option(word),
      }),
    },
    { requiredKeys: ['change'] },
  )

  /** The fields that an import sets. */
  const SAME = [
    ...[
      'full_name',
      'chat_id',
      'phone_number',
      'email',
      'tags',
      'bot_status',
      'allow_broadcast',
      'archived',
      'blocked',
    ],
    ...['contact_summary'],
  ]
  const carried = (row: Record<string, string>) => SAME.map((field) => row[field])

  it('reproduces the same contacts in another organization', async () => {
    const change = { archived: false, blocked: false, bot_status: null }
    await fc.assert(
      fc.asyncProperty(fc.array(contact, { minLength: 1, maxLength: 8 }), async (contacts) => {
        const [from, to] = [await world.createOrganization(), await world.createOrganization()]
        for (const { change, ...fields } of contacts) {
          const chat_id = newNumber()
          expect((await create({ phone_number: chat_id, ...fields }, from.key)).status).toBe(201)
          await request('PATCH', `/contact?chat_id=${chat_id}`, { key: from.key, body: change })
        }
        const exported = (await download('/contacts/export', from.key)).text
        const imported = await importCsv(exported, to.key)
        expect(imported.body.summary).toMatchObject({ total: contacts.length, created: contacts.length })
        const again = (await download('/contacts/export', to.key)).text
        expect(rowsOf(again).map(carried)).toEqual(rowsOf(exported).map(carried))
        const sources = (rows: Record<string, string>[]) =>
          rows.map(({ source }) => source).filter((s) => !s?.includes('"import"'))
        expect(sources(rowsOf(again))).toEqual(sources(rowsOf(exported)).filter((source) => source !== ''))
        expect((await importCsv(exported, to.key)).body.summary).toMatchObject({ unchanged: contacts.length })
      }),
      { numRuns: 15, examples: [[[{ full_name: '\t', change: { ...change, contact_summary: ' ' } }]]] },
    )
  })
})

describe('GET /conversations/export', () => {
  async function converse(count: number) {
    const number = newNumber()
    await create({ phone_number: number, full_name: 'Ana' })
    for (let n = 1; n <= count; n++) {
      const message = {
        phone_number: number,
        message_type: 'text',
        text: n === 1 ? '=SUM(A1)' : `Message ${n}\nof many`,
      }
      const sent = await request('POST', '/send-chat', { key: organization.key, body: message })
      expect(sent.status).toBe(200)
    }
    await world.settle()
    return number
  }

  it('returns the messages oldest first, exactly as the API shows them', async () => {
    const number = await converse(3)
    const shown = await request('GET', `/conversations?chatNumber=${number}&ascending=true`, { key: organization.key })
    const { contact } = (await request('GET', `/contact?chat_id=${number}`, { key: organization.key })).body
    for (const query of [`chatNumber=${number}`, `contactId=${contact.id}`]) {
      const path = `/conversations/export?${query}&format=json`
      const json = await request('GET', path, { key: organization.key })
      expect(json.body).toEqual({ success: true, messages: shown.body.messages })
      expect(json.headers.get('content-disposition')).toBe(`attachment; filename="conversation-${number}.json"`)
    }
    const { headers, text } = await download(`/conversations/export?chatNumber=${number}`)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(text.slice(0, text.indexOf('\r\n'))).toBe(
      '\uFEFFid,message_id,created_at,sender_type,message_type,message,media_type,media_url,message_status,voice_note_transcription,assignee,reactions,context_message_id,error,content,business_number',
    )
    const rows = rowsOf(text)
    expect(rows.map(({ message }) => message)).toEqual(["'=SUM(A1)", 'Message 2\nof many', 'Message 3\nof many'])
    expect(rows.map(({ id }) => id)).toEqual(shown.body.messages.map(({ id }: { id: string }) => id))
  })

  it('shows reactions, members and errors in the CSV', async () => {
    const number = await converse(1)
    const made = await world.admin('POST', `/organizations/${organization.id}/members`, {
      email: 'ana@example.com',
      full_name: 'Ana Souza',
      role: 'agent',
    })
    const pool = world.database.pool
    const { rows } = await pool.query(
      `UPDATE messages SET assignee_id = $2, status = 'failed', error = '{"code": 131047, "text": "too late"}'
       WHERE organization_id = $1 AND contact_id = (SELECT id FROM contacts WHERE organization_id = $1 AND chat_id = $3)
       RETURNING upstream_id`,
      [organization.id, made.body.member.id, number],
    )
    const reaction = { message_id: rows[0].upstream_id, emoji: '👍' }
    const body = { phone_number: number, message_type: 'reaction', reaction }
    expect((await request('POST', '/send-chat', { key: organization.key, body })).status).toBe(200)
    const [message] = rowsOf((await download(`/conversations/export?chatNumber=${number}`)).text)
    expect(message).toMatchObject({
      assignee: 'ana@example.com',
      message_status: 'failed',
      error: '131047: too late',
      reactions: '👍 bot-chat',
    })
  })

  it('returns an empty document for a contact without messages', async () => {
    const number = newNumber()
    await create({ phone_number: number })
    const path = `/conversations/export?chatNumber=${number}&format=json`
    expect((await download(path)).text).toBe('{"success":true,"messages":[]}')
  })

  it("returns 404 for another organization's contact, as for an unknown one, and 400 without a number", async () => {
    const number = newNumber()
    const { id } = (await create({ phone_number: number }, other.key)).body.contact
    for (const query of [`chatNumber=${number}`, `contactId=${id}`, `chatNumber=${newNumber()}`]) {
      const answer = await request('GET', `/conversations/export?${query}`, { key: organization.key })
      expect([answer.status, answer.body.error]).toEqual([404, 'Contact not found'])
      expect(answer.headers.get('content-disposition')).toBeNull()
    }
    const nobody = await request('GET', '/conversations/export', { key: organization.key })
    expect([nobody.status, nobody.body.error]).toEqual([400, 'Missing required parameter'])
  })
})

describe('a long export', () => {
  /** More than the buffers on the way can hold, so that the sender waits while nothing is read. */
  async function fill(): Promise<TestOrganization> {
    const long = await world.createOrganization()
    await world.database.pool.query(
      `INSERT INTO contacts (organization_id, id, chat_id, phone_number, contact_summary)
       SELECT $1, gen_random_uuid(), '55119500' || n, '+55119500' || n, repeat('x', 10000)
       FROM generate_series(10000, 14999) n`,
      [long.id],
    )
    return long
  }

  async function begin({ key }: TestOrganization): Promise<http.IncomingMessage> {
    const headers = { authorization: `Bearer ${key}` }
    const [answer] = await once(http.get(`${world.app.url}/contacts/export?format=json`, { headers }), 'response')
    return answer
  }

  it('breaks the connection if the database fails, so that it does not look complete', async () => {
    const long = await fill()
    const answer = await begin(long)
    expect(answer.statusCode).toBe(200)
    await world.database.pool.query('ALTER TABLE contacts RENAME COLUMN email TO electronic_mail')
    try {
      let text = ''
      answer.setEncoding('utf8').on('data', (part) => {
        text += part
      })
      await once(answer, 'close').catch(() => undefined)
      expect(answer.complete).toBe(false)
      expect(text.startsWith('{"success":true,"contacts":[{')).toBe(true)
      expect(text.endsWith(']}')).toBe(false)
    } finally {
      await world.database.pool.query('ALTER TABLE contacts RENAME COLUMN electronic_mail TO email')
    }
  })

  it('takes one of four slots of its organization, until the client disconnects', async () => {
    const long = await fill()
    const answers = [await begin(long), await begin(long), await begin(long), await begin(long)]
    const path = '/contacts/export?format=json'
    const status = async ({ key }: TestOrganization) => (await request('GET', path, { key })).status
    expect(await status(long)).toBe(429)
    expect(await status(organization)).toBe(200)
    answers[0]?.destroy()
    await expect.poll(() => status(long)).toBe(200)
    for (const answer of answers) answer.destroy()
  })

  it('reads no faster than the client, and stops when the client disconnects', async () => {
    const runs = vi.spyOn(world.app.ctx.database, 'run')
    const countPages = () => runs.mock.calls.filter(([{ text }]) => text.includes('FROM contacts')).length
    let before = -1
    const isStill = () => {
      const now = countPages()
      const still = now === before
      before = now
      return still
    }
    const answer = await begin(await fill())
    onTestFinished(() => void answer.destroy())
    await expect.poll(isStill, { interval: 200 }).toBe(true)
    const read = before
    expect(read).toBeLessThan(5)
    answer.destroy()
    await expect.poll(isStill, { interval: 200 }).toBe(true)
    expect(before).toBe(read)
  })
})
