import { beforeEach, describe, expect, it } from 'vitest'
import { receiveMessages, seconds, textMessage } from '../../../support/callbacks.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { type Answer, type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
let organization: TestOrganization
let numbers = 0

beforeEach(async () => {
  organization = await world.createOrganization()
})

function nextNumber(): string {
  return `551196${String(2_000 + ++numbers).padStart(7, '0')}`
}

function get(path: string, { key } = organization): Promise<Answer> {
  return request('GET', path, { key })
}

/** The description has no schema for CSV. */
function download(): Promise<Answer> {
  return world.request('GET', '/opt-outs/export', { key: organization.key })
}

function importCsv(csv: string, path = '/opt-outs/import', { key } = organization): Promise<Answer> {
  return request('POST', path, { key, body: csv, headers: { 'content-type': 'text/csv' } })
}

async function allowsBroadcast(chatId: string): Promise<boolean> {
  return (await get(`/contact?chat_id=${chatId}`)).body.contact.allow_broadcast
}

/** Opt-outs of new contacts, one a minute; resolves to their numbers, newest first. */
async function optOut(count: number): Promise<string[]> {
  const people = Array.from({ length: count }, nextNumber)
  await receiveMessages(
    world,
    organization,
    ...people.map((number, index) => textMessage(number, 'stop', { timestamp: seconds(60 * index) })),
  )
  return people.reverse()
}

const numbersOf = ({ body }: Answer) => body.optOuts.map((optOut: { chatNumber: string }) => optOut.chatNumber)

describe('GET /opt-outs', () => {
  it('lists opted-out contacts, newest first, page by page', async () => {
    const people = await optOut(5)
    const pages = [await get('/opt-outs?limit=2'), await get('/opt-outs?limit=2&page=3'), await get('/opt-outs?page=2')]
    expect(pages.map(numbersOf)).toEqual([people.slice(0, 2), people.slice(4), []])
    expect(pages[0]?.body).toMatchObject({
      success: true,
      optOuts: [
        { contactName: null, opted_out_at: new Date(1_750_000_240_000).toISOString(), source: 'reply', words: 'stop' },
        {},
      ],
      count: 2,
    })
    expect(pages.map(({ body }) => body.pagination)).toEqual([
      { currentPage: 1, totalPages: 3, totalOptOuts: 5, optOutsPerPage: 2, hasNextPage: true, hasPrevPage: false },
      { currentPage: 3, totalPages: 3, totalOptOuts: 5, optOutsPerPage: 2, hasNextPage: false, hasPrevPage: true },
      { currentPage: 2, totalPages: 1, totalOptOuts: 5, optOutsPerPage: 50, hasNextPage: false, hasPrevPage: true },
    ])
    const contact = await get(`/contact?chat_id=${people[0]}`)
    expect(pages[0]?.body.optOuts[0]).toMatchObject({ contactId: contact.body.contact.id, chatNumber: people[0] })
  })

  it('leaves out contacts that allow broadcasts again, and those only excluded by hand', async () => {
    const [back, gone] = await optOut(2)
    const forbidden = nextNumber()
    await importCsv(`phone_number,allow_broadcast\n${back},yes\n${gone},\n${forbidden},no\n`, '/contacts/import')
    expect(numbersOf(await get('/opt-outs'))).toEqual([gone])
    expect(await allowsBroadcast(back as string)).toBe(true)
  })

  it('shows nothing of another organization', async () => {
    await optOut(1)
    const other = await world.createOrganization()
    expect((await get('/opt-outs', other)).body).toMatchObject({
      optOuts: [],
      count: 0,
      pagination: { totalOptOuts: 0 },
    })
    expect((await get('/opt-outs/export?format=json', other)).body).toEqual({ success: true, optOuts: [] })
  })

  it.each(['limit=0', 'limit=101', 'page=0', 'limit=x'])('refuses %s', async (query) => {
    const answer = await get(`/opt-outs?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { success: false, error: 'Invalid parameter' } })
  })
})

describe('GET /opt-outs/export', () => {
  it('returns all of them as JSON or CSV, newest first', async () => {
    const people = await optOut(3)
    const json = await get('/opt-outs/export?format=json')
    expect(json.body).toEqual({ success: true, optOuts: (await get('/opt-outs')).body.optOuts })
    const csv = await download()
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="opt-outs.csv"')
    const [header, ...rows] = csv.body.trim().split('\r\n')
    expect(header).toBe('contactId,chatNumber,contactName,opted_out_at,source,words')
    expect(rows.map((row: string) => row.split(',')[1])).toEqual(people)
  })

  it('continues between reads, even among opt-outs of the same moment', async () => {
    const people = Array.from({ length: 1_001 }, nextNumber)
    await importCsv(`phone_number,opted_out_at\n${people.map((number) => `${number},2026-01-01\n`).join('')}`)
    const exported = numbersOf(await get('/opt-outs/export?format=json'))
    expect(exported).toHaveLength(1_001)
    expect(new Set(exported)).toEqual(new Set(people))
  })

  it('is a file that another organization can import', async () => {
    await optOut(2)
    const exported = (await download()).body
    const other = await world.createOrganization()
    expect((await importCsv(exported, undefined, other)).body.summary).toMatchObject({ created: 2, failed: 0 })
    const shown = (answer: Answer) =>
      answer.body.optOuts.map(({ chatNumber, opted_out_at }: Record<string, string>) => [chatNumber, opted_out_at])
    expect(shown(await get('/opt-outs', other))).toEqual(shown(await get('/opt-outs')))
  })
})

describe('POST /opt-outs/import', () => {
  it('creates contacts for unknown numbers, and disables broadcasts for known ones', async () => {
    const [known, unknown, without] = [nextNumber(), nextNumber(), nextNumber()]
    await importCsv(`phone_number,full_name\n${known},Ana\n`, '/contacts/import')
    const { body } = await importCsv(
      `Phone;opted_out_at;name;tags;source\n+${known};2025-03-01;;vip;x\n${unknown};2025-04-01 12:30;Eva;vip;x\n${without};;;;\n`,
    )
    expect(body).toMatchObject({
      success: true,
      summary: { total: 3, created: 2, updated: 1, unchanged: 0, skipped: 0, failed: 0 },
      results: [
        { row: 2, status: 'updated', chat_id: known },
        { row: 3, status: 'created', chat_id: unknown },
        { row: 4, status: 'created', chat_id: without },
      ],
    })
    const listed = (await get('/opt-outs')).body.optOuts
    expect(listed).toMatchObject([
      { chatNumber: without, source: 'import' },
      { chatNumber: unknown, contactName: 'Eva', opted_out_at: '2025-04-01T12:30:00.000Z', source: 'import' },
      { chatNumber: known, contactName: 'Ana', opted_out_at: '2025-03-01T00:00:00.000Z', source: 'import' },
    ])
    const { contact } = (await get(`/contact?chat_id=${unknown}`)).body
    expect(contact).toMatchObject({ allow_broadcast: false, tags: [], source: { type: 'opt_out_import' } })
    expect((await eventsOfContact(world, contact.id)).map(({ type }) => type)).toEqual([
      'contact.created',
      'contact.opted_out',
    ])
    expect(await allowsBroadcast(known)).toBe(false)
    expect((await eventsOfContact(world, listed[2].contactId)).map(({ type }) => type)).toEqual([
      'contact.created',
      'contact.updated',
      'contact.opted_out',
    ])
  })

  it('keeps date and source of a known opt-out, and changes nothing when repeated', async () => {
    const [person] = await optOut(1)
    const before = (await get('/opt-outs')).body.optOuts
    const file = `chat_id,opted_out_at\n${person},2020-01-01T00:00:00+02:00\n`
    expect((await importCsv(file)).body.results).toMatchObject([{ status: 'unchanged', id: before[0].contactId }])
    expect((await get('/opt-outs')).body.optOuts).toEqual(before)
    expect((await importCsv(`chat_id,name\n${person},Ana\n`)).body.results).toMatchObject([{ status: 'updated' }])
    expect((await get('/opt-outs')).body.optOuts).toEqual([{ ...before[0], contactName: 'Ana' }])
    const types = (await eventsOfContact(world, before[0].contactId)).map(({ type }) => type)
    expect(types.filter((type) => type === 'contact.opted_out')).toHaveLength(1)
  })

  it('skips contacts that opted in after the date in the list', async () => {
    const [byWord, byHand] = await optOut(2)
    await receiveMessages(world, organization, textMessage(byWord as string, 'start', { timestamp: seconds(600) }))
    await request('PATCH', `/contact?chat_id=${byHand}`, { key: organization.key, body: { allow_broadcast: true } })
    const listed = (at: string) =>
      importCsv(`chat_id,name,opted_out_at\n${byWord},Ana,${at}\n${byHand},Eva,${at}\n`).then(({ body }) =>
        body.results.map(({ status }: { status: string }) => status),
      )
    const justBefore = new Date(Number(seconds(599)) * 1_000).toISOString()
    expect(await listed(justBefore)).toEqual(['updated', 'updated'])
    expect(await listed(justBefore)).toEqual(['unchanged', 'unchanged'])
    expect(numbersOf(await get('/opt-outs'))).toEqual([])
    expect(await allowsBroadcast(byWord as string)).toBe(true)
    const { contact } = (await get(`/contact?chat_id=${byHand}`)).body
    expect(contact).toMatchObject({ full_name: 'Eva', allow_broadcast: true })
    expect(await listed(world.now().toISOString())).toEqual(['updated', 'updated'])
    expect(new Set(numbersOf(await get('/opt-outs')))).toEqual(new Set([byWord, byHand]))
  })

  it('refuses rows one by one, with reasons', async () => {
    const number = nextNumber()
    const { body } = await importCsv(
      `phone_number,opted_out_at\n${number},yesterday\n${number},2999-01-01\n${number},2025-13-01\n${number},2025-02-30\n${number},2025-04-31T10:00:00Z\nnobody,\n${number},2025-01-31T10:00:00.5Z\n`,
    )
    expect(body.summary).toMatchObject({ total: 7, created: 1, failed: 6 })
    expect(body.results.map(({ message }: { message?: string }) => message)).toEqual([
      expect.stringContaining('opted_out_at "yesterday" must be a date in the past'),
      expect.stringContaining('opted_out_at "2999-01-01" must be a date in the past'),
      expect.stringContaining('opted_out_at "2025-13-01" must be a date in the past'),
      expect.stringContaining('opted_out_at "2025-02-30" must be a date in the past'),
      expect.stringContaining('opted_out_at "2025-04-31T10:00:00Z" must be a date in the past'),
      expect.stringContaining('phone_number "nobody"'),
      undefined,
    ])
    expect((await get('/opt-outs')).body.optOuts[0].opted_out_at).toBe('2025-01-31T10:00:00.500Z')
  })

  it.each([
    ['', 400, 'Invalid CSV'],
    ['opted_out_at\n2025-01-01\n', 400, 'Missing required field'],
    ['phone_number\n"5511', 400, 'Invalid CSV'],
  ])('refuses the file %j', async (file, status, error) => {
    expect(await importCsv(file)).toMatchObject({ status, body: { success: false, error } })
  })

  it('returns the first report again for the same Idempotency-Key, until the contact is erased', async () => {
    const number = nextNumber()
    const send = () =>
      request('POST', '/opt-outs/import', {
        key: organization.key,
        body: `phone_number\n${number}\n`,
        headers: { 'content-type': 'text/csv', 'idempotency-key': 'list-1' },
      })
    const first = await send()
    const again = await send()
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    await request('DELETE', `/contact?chat_id=${number}`, { key: organization.key })
    expect((await send()).headers.get('idempotent-replayed')).toBeNull()
  })

  it('changes no contact of another organization', async () => {
    const number = nextNumber()
    await importCsv(`phone_number\n${number}\n`, '/contacts/import')
    const other = await world.createOrganization()
    expect((await importCsv(`phone_number\n${number}\n`, undefined, other)).body.summary.created).toBe(1)
    expect(await allowsBroadcast(number)).toBe(true)
  })
})
