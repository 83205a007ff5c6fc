import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAudience } from '../../../../src/core/broadcasts/uploaded-audiences.js'
import { prune } from '../../../../src/core/maintenance/maintenance.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import type { Tenant } from '../../../../src/model/organizations/organization.js'
import { addUploadedRecipients, planAudienceRemoval } from '../../../../src/storage/broadcasts/uploaded-audiences.js'
import { findTenant } from '../../../../src/storage/organizations/organizations.js'
import {
  DAY,
  MINUTE,
  NO_ID,
  newBroadcaster,
  OFFER,
  OFFER_PARAMETERS,
  startBroadcastWorld,
} from '../../../support/broadcasts.js'
import { makeJobsDue } from '../../../support/jobs.js'
import { useStarted } from '../../../support/started.js'
import type { TestOrganization } from '../../../support/world.js'

const at = useStarted(startBroadcastWorld)

const CSV = { 'content-type': 'text/csv' }
const NDJSON = { 'content-type': 'application/x-ndjson' }

interface Extra {
  query?: string
  owner?: TestOrganization
  headers?: Record<string, string>
}

/** Uploads a file. */
const upload = (body: string, { query = '', owner = at.organization, headers = CSV }: Extra = {}) =>
  at.ask('POST', `/audiences${query}`, { body, headers, key: owner.key })

async function uploaded(body: string, extra?: Extra) {
  const answer = await upload(body, extra)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.audience
}

async function refused(body: string, extra?: Extra) {
  const { status, body: answer } = await upload(body, extra)
  return [status, answer.error, answer.message]
}

/** A file of recipients with these numbers. */
const table = (...numbers: string[]) => `chatNumber\n${numbers.map((number) => `+${number}\n`).join('')}`

async function storedRecipients(owner = at.organization): Promise<{ address: string | null; name: string | null }[]> {
  const { rows } = await at.world.database.pool.query(
    'SELECT address, name FROM audience_recipients WHERE organization_id = $1 ORDER BY audience_id, n',
    [owner.id],
  )
  return rows
}

async function parametersOf(digits: string) {
  const [payload] = (await at.arrived()).filter(({ to }) => to === digits)
  return payload.template.components.flatMap(({ parameters }: { parameters: { text: string }[] }) =>
    parameters.map(({ text }) => text),
  )
}

describe('POST /audiences', () => {
  it('stores the recipients of a CSV file, and says what it ignored', async () => {
    const [one, two] = [at.newNumber(), at.newNumber()]
    const csv = `\ufeffName;CHATNUMBER;bodyParameters.discount;City\r\nAna;+${one};"5; 10%";Rio\r\n;;;\r\n;'+${two};;\r\n`
    const { status, body } = await upload(csv, { query: '?name=June' })
    expect([status, body]).toEqual([
      201,
      {
        success: true,
        audience: {
          id: expect.any(String),
          name: 'June',
          recipients: 2,
          rejected: 0,
          errors: [],
          bodyParameters: ['discount'],
          buttonParameters: [],
          created_at: expect.any(String),
          expires_at: expect.any(String),
        },
        doubtful: [],
        warnings: [expect.stringContaining('The column "City" is not known')],
      },
    ])
    const { id, created_at, expires_at } = body.audience
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7 * DAY)
    expect((await at.ask('GET', '/audiences/{id}', { id })).body.audience).toEqual(body.audience)
    const { audiences, count } = (await at.ask('GET', '/audiences')).body
    expect([audiences[0], count]).toEqual([body.audience, audiences.length])
    expect((await storedRecipients()).slice(-2)).toEqual([
      { address: one, name: 'Ana' },
      { address: two, name: null },
    ])
  })

  it('stores the recipients of an NDJSON file', async () => {
    const recipients = [at.newNumber(), at.newNumber()].map((digits) => ({
      chatNumber: `+${digits}`,
      bodyParameters: { discount: '5%' },
      buttonParameters: { param1: 'x' },
    }))
    const text = recipients.map((recipient) => `${JSON.stringify(recipient)}\r\n\n`).join('')
    expect(await uploaded(text, { headers: NDJSON })).toMatchObject({
      name: null,
      recipients: 2,
      rejected: 0,
      bodyParameters: ['discount'],
      buttonParameters: ['param1'],
    })
  })

  it('rejects rows, numbered as in the file, and stores the others', async () => {
    const csv = `chatNumber,name\n12,\n+${at.newNumber()},Ana\n\n,Bob\n+${at.newNumber()},${'x'.repeat(256)}\n+1,2,3\n`
    const { recipients, rejected, errors } = await uploaded(csv)
    expect([recipients, rejected]).toEqual([1, 4])
    expect(errors).toEqual([
      {
        row: 2,
        error: 'Invalid field',
        message: expect.stringContaining('chatNumber "12" is not a possible phone'),
        value: '12',
      },
      { row: 5, error: 'Missing required field', message: expect.stringContaining('chatNumber is required') },
      { row: 6, error: 'Invalid field', message: 'name must have at most 255 characters', value: 'x'.repeat(64) },
      { row: 7, error: 'Invalid CSV', message: expect.stringContaining('has 3 cells, and the header 2') },
    ])
    const lines = [
      '{"chatNumber":',
      '[]',
      `{"chatNumber":"+${at.newNumber()}"}`,
      '{"chatNumber":5}',
      '{"chatNumber":"\\u0000"}',
    ]
    const read = await uploaded(lines.join('\n'), { headers: NDJSON })
    expect([read.recipients, read.rejected]).toEqual([1, 4])
    expect(read.errors.map(({ row, error }: { row: number; error: string }) => [row, error])).toEqual([
      [1, 'Invalid JSON'],
      [2, 'Invalid JSON'],
      [4, 'Invalid field'],
      [5, 'Invalid field'],
    ])
  })

  it('describes at most 100 rejected rows', async () => {
    const { rejected, errors } = await uploaded(`${table(at.newNumber())}${'12\n'.repeat(150)}`)
    expect([rejected, errors.length]).toEqual([150, 100])
  })

  it.each<[string, string, Record<string, string>, { error: string; message: RegExp }]>([
    ['an empty file', '', CSV, { error: 'Invalid CSV', message: /The file is empty/ }],
    ['no number column', 'name\nAna\n', CSV, { error: 'Missing required field', message: /chatNumber is required/ }],
    [
      'a value twice',
      'phone,bodyParameters.a,bodyParameters.a\n1,2,3',
      CSV,
      { error: 'Invalid CSV', message: /names bodyParameters.a twice/ },
    ],
    ['only a header', 'chatNumber\n', CSV, { error: 'Invalid field', message: /The file has no recipients$/ }],
    [
      'only bad rows',
      'chatNumber\n12\n13\n',
      CSV,
      { error: 'Invalid field', message: /2 rows were rejected, the first \(row 2\)/ },
    ],
    [
      'a quote that does not end',
      'chatNumber\n+16505550001\n"12',
      CSV,
      { error: 'Invalid CSV', message: /quoted cell that does not end/ },
    ],
    ['no line', '\n\n', NDJSON, { error: 'Invalid field', message: /The file has no recipients$/ }],
    [
      'a line without end',
      `{"a":"${'x'.repeat(300_000)}`,
      NDJSON,
      { error: 'Invalid JSON', message: /Line 1 of the file is longer/ },
    ],
  ])('refuses %s, and stores nothing', async (_what, body, headers, { error, message }) => {
    const owner = await newBroadcaster(at.world)
    expect(await refused(body, { owner, headers })).toEqual([400, error, expect.stringMatching(message)])
    await at.world.drain()
    expect(await storedRecipients(owner)).toEqual([])
    expect((await at.ask('GET', '/audiences', { key: owner.key })).body.audiences).toEqual([])
  })

  it('refuses NDJSON that is not UTF-8', async () => {
    const response = await fetch(`${at.world.app.url}/audiences`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.organization.key}`, 'content-type': 'application/x-ndjson' },
      body: Buffer.from('{"chatNumber":"+16505550001","name":"Jo\xe3o"}\n', 'latin1'),
    })
    const { error, message } = (await response.json()) as Record<string, string>
    expect([response.status, error, message]).toEqual([400, 'Invalid JSON', 'The file is not UTF-8'])
  })

  it('takes a list without headings, and prefers the number for messages', async () => {
    const [one, two, three] = [at.newNumber(), at.newNumber(), at.newNumber()]
    expect(await uploaded(`+${one}\n+${two};Ana\n`)).toMatchObject({ recipients: 2, rejected: 0 })
    const csv = `Name,Phone,Mobile\nRui,+${one},+${three}\nIda,+${two},\nEva,,n/a\n`
    expect(await uploaded(csv)).toMatchObject({ recipients: 2, errors: [{ row: 4, value: 'n/a' }] })
    expect((await storedRecipients()).slice(-2)).toEqual([
      { address: three, name: 'Rui' },
      { address: two, name: 'Ida' },
    ])
  })

  it('takes values from columns that are called as the variables and buttons of a template', async () => {
    const csv = `sep=;\nCelular;Nome;DISCOUNT;Cidade\n+${at.newNumber()};Ana;5,5%;Rio\n`
    const { status, body } = await upload(csv, { query: `?templateName=${OFFER}` })
    expect([status, body.audience.bodyParameters, body.warnings]).toEqual([
      201,
      ['discount'],
      [expect.stringContaining('The column "Cidade" is not known')],
    ])
    expect(await refused(csv, { query: '?templateName=nothing' })).toEqual([
      400,
      'Template not found',
      expect.any(String),
    ])
  })

  it('refuses other types of files', async () => {
    const [status, error, message] = await refused('{}', { headers: { 'content-type': 'application/json' } })
    expect([status, error]).toEqual([415, 'Unsupported media type'])
    expect(message).toContain('send text/csv or application/x-ndjson')
  })

  it('keeps at most 20 audiences of an organization', async () => {
    const owner = await newBroadcaster(at.world)
    for (let n = 1; n <= 20; n++) await uploaded(table(at.newNumber()), { owner })
    expect(await refused(table(at.newNumber()), { owner })).toEqual([
      409,
      'Too many audiences',
      'The organization has 20 audiences, and may have 20: delete one that is not needed',
    ])
    const [first] = (await at.ask('GET', '/audiences', { key: owner.key })).body.audiences
    await at.ask('DELETE', '/audiences/{id}', { id: first.id, key: owner.key })
    await uploaded(table(at.newNumber()), { owner })
  })

  it('keeps at most 2 GB of files of an organization', async () => {
    const owner = await newBroadcaster(at.world)
    const file = table(at.newNumber())
    const { id } = await uploaded(file, { owner })
    const { pool } = at.world.database
    const fill = (bytes: number) =>
      pool.query('UPDATE audiences SET bytes = $2 WHERE organization_id = $1 AND id = $3', [owner.id, bytes, id])
    await fill(2 ** 31 - Buffer.byteLength(file))
    await uploaded(file, { owner })
    const full = [
      409,
      'Too many audiences',
      "The files of the organization's audiences would have 2049 MB together, and may have 2048 MB: delete audiences that are not needed",
    ]
    expect(await refused(file, { owner })).toEqual(full)
    // Found when the file has arrived.
    await fill(2 ** 31 - 2 * Buffer.byteLength(file) + 1)
    await at.world.drain()
    expect(await refused(file, { owner })).toEqual(full)
    await at.world.drain()
    expect(await storedRecipients(owner)).toHaveLength(2)
    await uploaded(file)
    await at.ask('DELETE', '/audiences/{id}', { id, key: owner.key })
    await uploaded(file, { owner })
  })

  it('keeps at most 20 audiences of an organization, even if more arrive at the same time', async () => {
    const owner = await newBroadcaster(at.world)
    const { ctx } = at.world.app
    const tenant = (await findTenant(ctx.database, owner.id)) as Tenant
    const path = join(tmpdir(), `${randomUUID()}.csv`)
    await writeFile(path, table(at.newNumber()))
    const create = () =>
      createAudience(ctx, tenant, { id: newId(), name: null, file: { path, format: 'csv', template: null } })
    const created = await Promise.allSettled(Array.from({ length: 25 }, create))
    await rm(path)
    const refusals = created.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(refusals).toEqual(Array(5).fill('too_many_audiences'))
    expect((await at.ask('GET', '/audiences', { key: owner.key })).body.audiences).toHaveLength(20)
    await at.world.drain()
    expect(await storedRecipients(owner)).toHaveLength(20)
  })

  it('answers an Idempotency-Key once, and refuses it with another file', async () => {
    const file = table(at.newNumber())
    const headers = { ...CSV, 'idempotency-key': randomUUID() }
    const first = await uploaded(file, { headers })
    expect(await uploaded(file, { headers })).toEqual(first)
    expect((await upload(table(at.newNumber()), { headers })).status).toBe(422)
  })
})

describe('a broadcast to an uploaded audience', () => {
  it('goes to its recipients with their own values, after the listed ones', async () => {
    const known = await at.newContact({ full_name: 'Eva Lima' })
    const [listed, fresh, tagged] = [at.newNumber(), at.newNumber(), await at.newContact({ tags: ['summer'] })]
    const { id: audienceId } = await uploaded(
      `chatNumber,name,bodyParameters.discount,buttonParameters.param1\n+${known.digits},,50%,\n+${fresh},Rui,,zzz\n+${listed},,,\n`,
    )
    const made = await at.send({
      templateName: OFFER,
      ...OFFER_PARAMETERS,
      audience: { recipients: [{ chatNumber: `+${listed}` }], audienceId, tags: ['summer'] },
    })
    expect(made).toMatchObject({ status: 'completed', totalRecipients: 4, skippedRecipients: 1 })
    const shown = (await at.recipients(made.id)).map(({ chatNumber, reason }) => [chatNumber, reason])
    expect(shown).toEqual([
      [listed, null],
      [known.digits, null],
      [fresh, null],
      [listed, 'duplicate'],
      [tagged.digits, null],
    ])
    expect(await parametersOf(known.digits)).toEqual(['Eva', '50%', 'abc'])
    expect(await parametersOf(fresh)).toEqual(['Rui', '20%', 'zzz'])
    await at.expectNoDrift()
  })

  it('may use it again, and takes it in slices', async () => {
    const numbers = Array.from({ length: 1_203 }, () => at.newNumber())
    const { id: audienceId, recipients } = await uploaded(table(...numbers))
    expect(recipients).toBe(1_203)
    for (const _ of [1, 2]) {
      const { id } = await at.create({ audience: { audienceId }, scheduled_at: '2999-01-01T00:00:00Z' })
      await at.world.drain()
      expect(await at.read(id)).toMatchObject({ totalRecipients: 1_203, skippedRecipients: 0 })
    }
  })

  it('keeps its recipients if the audience is deleted, whose rows then go', async () => {
    const owner = await newBroadcaster(at.world)
    const numbers = Array.from({ length: 3 }, () => at.newNumber())
    const { id: audienceId } = await uploaded(table(...numbers), { owner })
    const body = { name: 'x', templateName: 'hello_world', audience: { audienceId } }
    const { id } = (await at.ask('POST', '/broadcasts', { key: owner.key, body })).body.broadcast
    const removed = await at.ask('DELETE', '/audiences/{id}', { id: audienceId, key: owner.key })
    expect([removed.status, removed.body]).toEqual([200, { success: true, message: 'Audience deleted' }])
    expect((await at.ask('GET', '/audiences/{id}', { id: audienceId, key: owner.key })).status).toBe(404)
    await at.world.drain()
    expect(await storedRecipients(owner)).toEqual([])
    expect((await at.ask('GET', '/broadcasts/{id}', { id, key: owner.key })).body.broadcast.totalRecipients).toBe(3)
  })

  it('waits with the deletion while a broadcast is being prepared from it', async () => {
    const owner = await newBroadcaster(at.world)
    const { id: audienceId } = await uploaded(table(at.newNumber()), { owner })
    const body = {
      name: 'x',
      templateName: 'hello_world',
      audience: { audienceId },
      scheduled_at: '2999-01-01T00:00:00Z',
    }
    const { id } = (await at.ask('POST', '/broadcasts', { key: owner.key, body })).body.broadcast
    const setPrepared = (sql: string) =>
      at.world.database.pool.query(`UPDATE broadcasts SET prepared_at = ${sql} WHERE id = $1`, [id])
    await at.world.drain()
    await setPrepared('NULL')
    await at.ask('DELETE', '/audiences/{id}', { id: audienceId, key: owner.key })
    await at.world.drain()
    expect(await storedRecipients(owner)).toHaveLength(1)
    await setPrepared('now()')
    await makeJobsDue(at.world.app.ctx)
    await at.world.drain()
    expect(await storedRecipients(owner)).toEqual([])
  })

  it('is refused if its values are none of the template, or if there is no such audience', async () => {
    const { id: audienceId } = await uploaded(`chatNumber,bodyParameters.colour\n+${at.newNumber()},red\n`)
    const foreign = await uploaded(table(at.newNumber()), { owner: at.other })
    const refusals = [audienceId, foreign.id, NO_ID].map(async (id) => {
      const { status, body } = await at.post({ templateName: OFFER, ...OFFER_PARAMETERS, audience: { audienceId: id } })
      return [status, body.error, body.message]
    })
    const unknown = (id: string) =>
      expect.stringContaining(`audience.audienceId: there is no audience with the id ${id}`)
    expect(await Promise.all(refusals)).toEqual([
      [400, 'Invalid field', expect.stringContaining('bodyParameters.colour, which the template "oferta_da_semana"')],
      [400, 'Invalid field', unknown(foreign.id)],
      [400, 'Invalid field', unknown(NO_ID)],
    ])
  })
})

describe('an uploaded audience', () => {
  it('is seen by its organization only', async () => {
    const { id } = await uploaded(table(at.newNumber()))
    const key = at.other.key
    expect((await at.ask('GET', '/audiences/{id}', { id, key })).status).toBe(404)
    expect((await at.ask('DELETE', '/audiences/{id}', { id, key })).status).toBe(404)
    const { audiences } = (await at.ask('GET', '/audiences', { key })).body
    expect(audiences.map((audience: { id: string }) => audience.id)).not.toContain(id)
    expect((await at.ask('GET', '/audiences/{id}', { id })).status).toBe(200)
  })

  it('expires after 7 days, and is deleted with its recipients', async () => {
    const owner = await newBroadcaster(at.world)
    const { id } = await uploaded(table(at.newNumber()), { owner })
    at.world.advance(7 * DAY - MINUTE)
    await prune(at.world.app.work)
    expect((await at.ask('GET', '/audiences/{id}', { id, key: owner.key })).status).toBe(200)
    at.world.advance(MINUTE)
    expect((await at.ask('GET', '/audiences/{id}', { id, key: owner.key })).status).toBe(404)
    expect(await storedRecipients(owner)).toHaveLength(1)
    await prune(at.world.app.work)
    await at.world.drain()
    expect(await storedRecipients(owner)).toEqual([])
  })

  it('leaves no recipients if its upload did not end, and stays if it did', async () => {
    const owner = await newBroadcaster(at.world)
    const { id } = await uploaded(table(at.newNumber()), { owner })
    await makeJobsDue(at.world.app.ctx)
    await at.world.drain()
    expect(await storedRecipients(owner)).toHaveLength(1)
    // As a process leaves it that is killed before the last statement of an upload.
    const left = randomUUID()
    const { database } = at.world.app.ctx
    await planAudienceRemoval(database, owner.id, left, 60)
    const recipient = { n: 1, address: at.newNumber(), name: null, parameters: null }
    await addUploadedRecipients(database, owner.id, left, [recipient])
    expect(await storedRecipients(owner)).toHaveLength(2)
    await makeJobsDue(at.world.app.ctx)
    await at.world.drain()
    expect(await storedRecipients(owner)).toHaveLength(1)
    expect((await at.ask('GET', '/audiences/{id}', { id, key: owner.key })).status).toBe(200)
  })

  it('forgets contacts that are erased, of its organization only', async () => {
    const contact = await at.newContact()
    const owner = await newBroadcaster(at.world)
    const csv = `chatNumber,name\n+${contact.digits},Ana\n+${at.newNumber()},Bob\n`
    const { id: audienceId } = await uploaded(csv)
    await uploaded(csv, { owner })
    await at.ask('DELETE', `/contact?chat_id=${contact.digits}`)
    expect((await storedRecipients()).slice(-2)).toEqual([
      { address: null, name: null },
      { address: expect.any(String), name: 'Bob' },
    ])
    expect(await storedRecipients(owner)).toMatchObject([{ address: contact.digits, name: 'Ana' }, { name: 'Bob' }])
    const made = await at.send({ audience: { audienceId } })
    expect(await at.outcomes(made.id)).toEqual(['skipped: no such contact', 'sent'])
  })

  it('is deleted with its organization', async () => {
    const owner = await newBroadcaster(at.world)
    await uploaded(table(at.newNumber()), { owner })
    await at.world.admin('DELETE', `/organizations/${owner.id}`)
    await makeJobsDue(at.world.app.ctx)
    await at.world.drain()
    await makeJobsDue(at.world.app.ctx)
    await at.world.drain()
    expect(await storedRecipients(owner)).toEqual([])
  })
})
