import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR, startBroadcastWorld } from '../../../support/broadcasts.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startBroadcastWorld)
/** A broadcast with a recipient of every status, by name. */
let numbers: Record<'pending' | 'sent' | 'delivered' | 'read' | 'refused' | 'failed' | 'recovered', string>
let id: string

beforeAll(async () => {
  const [sent, delivered, read, refused, failed, recovered] = Array.from({ length: 6 }, at.newNumber) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  numbers = { pending: '16505000005', sent, delivered, read, refused, failed, recovered }
  await at.failing(refused, 131026)
  const listed = ['not a number', ...Object.values(numbers), sent]
  const recipients = listed.map((chatNumber, n) => ({ chatNumber, name: `Person "${n}", of all` }))
  id = (await at.send({ audience: { recipients } })).id
  const messageOf = async (digits: string) =>
    (await at.recipients(id)).find(({ chatNumber }) => chatNumber === digits).messageId
  const errors = [{ code: 131049, title: 'Not delivered' }]
  await at.report(await messageOf(delivered), 'delivered')
  await at.report(await messageOf(read), 'delivered')
  await at.report(await messageOf(read), 'read')
  await at.report(await messageOf(failed), 'failed', { errors })
  await at.report(await messageOf(recovered), 'failed', { errors })
  await at.report(await messageOf(recovered), 'delivered')
})

const page = async (query: string) => (await at.ask('GET', `/broadcasts/{id}/recipients?${query}`, { id })).body

describe('GET /broadcasts/{id}/recipients', () => {
  it('shows each recipient with its outcome', async () => {
    const { recipients, ...rest } = await page('')
    expect(rest).toEqual({
      success: true,
      count: 9,
      pagination: {
        currentPage: 1,
        totalPages: 1,
        totalRecipients: 9,
        recipientsPerPage: 50,
        hasNextPage: false,
        hasPrevPage: false,
      },
    })
    expect(
      recipients.map((one: Record<string, unknown>) => [
        one.chatNumber,
        one.status,
        one.reason ?? one.errorCode,
        one.sent_at !== null,
        one.delivered_at !== null,
        one.read_at !== null,
      ]),
    ).toEqual([
      ['not a number', 'skipped', 'not a number', false, false, false],
      [numbers.pending, 'pending', 'no outcome yet', false, false, false],
      [numbers.sent, 'sent', null, true, false, false],
      [numbers.delivered, 'delivered', null, true, true, false],
      [numbers.read, 'read', null, true, true, true],
      [numbers.refused, 'failed', 131026, false, false, false],
      [numbers.failed, 'failed', 131049, true, false, false],
      [numbers.recovered, 'delivered', null, true, true, false],
      [numbers.sent, 'skipped', 'duplicate', false, false, false],
    ])
    expect(recipients[6]).toEqual({
      contactId: expect.any(String),
      chatNumber: numbers.failed,
      contactName: 'Person "6", of all',
      status: 'failed',
      reason: null,
      messageId: expect.stringMatching(/^wamid\./),
      errorCode: 131049,
      errorMessage: 'Not delivered',
      sent_at: expect.any(String),
      delivered_at: null,
      read_at: null,
    })
  })

  it.each([
    ['pending', 1],
    ['skipped', 2],
    ['sent', 1],
    ['delivered', 2],
    ['read', 1],
    ['failed', 2],
  ])('returns for status %s %i recipients, page by page', async (status, total) => {
    const all = await page('limit=100')
    const expected = all.recipients.filter((one: { status: string }) => one.status === status)
    expect(expected).toHaveLength(total)
    const shown = []
    for (let number = 1; number <= total; number++) {
      const { recipients, pagination, count } = await page(`status=${status}&limit=1&page=${number}`)
      expect(pagination).toEqual({
        currentPage: number,
        totalPages: total,
        totalRecipients: total,
        recipientsPerPage: 1,
        hasNextPage: number < total,
        hasPrevPage: number > 1,
      })
      expect(count).toBe(1)
      shown.push(...recipients)
    }
    expect(shown).toEqual(expected)
    const beyond = await page(`status=${status}&limit=1&page=${total + 1}`)
    expect(beyond).toMatchObject({ recipients: [], count: 0, pagination: { totalRecipients: total } })
  })

  it('returns each once and in order, page by page', async () => {
    const all = (await page('')).recipients
    const pages = await Promise.all([1, 2, 3, 4].map((number) => page(`limit=3&page=${number}`)))
    expect(pages.flatMap(({ recipients }) => recipients)).toEqual(all)
    expect(pages.map(({ pagination }) => pagination.hasNextPage)).toEqual([true, true, false, false])
  })

  it.each(['status=late', 'page=0', 'limit=0', 'limit=101', 'format=xml'])('refuses %s', async (query) => {
    const answer = await at.ask('GET', `/broadcasts/{id}/recipients?${query}`, { id })
    expect(answer).toMatchObject({ status: 400, body: { error: 'Invalid parameter' } })
  })
})

describe('a pending recipient', () => {
  it('says what it waits for: the broadcast, its turn, the limit of messages to the person', async () => {
    const contact = await at.newContact()
    const scheduled_at = new Date(at.world.now().getTime() + HOUR).toISOString()
    const { id } = await at.create({ audience: { contactIds: [contact.id] }, scheduled_at })
    await at.world.drain()
    const reason = async () => (await at.recipients(id)).map((one) => one.reason)
    const set = (sql: string, ...values: string[]) =>
      at.world.database.pool.query(sql, [at.organization.id, id, ...values])
    const become = (status: string) =>
      set('UPDATE broadcasts SET status = $3 WHERE organization_id = $1 AND id = $2', status)
    const paced = (time: string) =>
      set(
        `UPDATE contacts c SET paced_until = ${time} FROM broadcast_recipients r
         WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND c.organization_id = $1 AND c.id = r.contact_id`,
      )
    expect(await reason()).toEqual(['broadcast scheduled'])
    await become('paused')
    expect(await reason()).toEqual(['broadcast paused'])
    await become('running')
    expect(await reason()).toEqual(['not its turn yet'])
    await paced(`now() + interval '5 minutes'`)
    expect(await reason()).toEqual(['limit of messages to this person'])
    await paced(`now() + interval '1 hour'`)
    expect(await reason()).toEqual(['not its turn yet'])
    await paced('NULL')
    await become('paused')
    await at.act(id, 'cancel')
    expect(await reason()).toEqual(['cancelled'])
  })

  it('is to be sent again if the upstream has not accepted it, and else waits for its outcome', async () => {
    const reason = async () => (await at.recipients(id)).find(({ chatNumber }) => chatNumber === numbers.pending).reason
    const values = [at.organization.id, id]
    await at.world.database.pool.query(
      `INSERT INTO broadcast_deferrals (organization_id, broadcast_id, n, since, attempts, retry_at)
       SELECT organization_id, broadcast_id, n, now(), 1, now() FROM broadcast_recipients
       WHERE organization_id = $1 AND broadcast_id = $2`,
      values,
    )
    expect(await reason()).toBe('to be sent again')
    await at.world.database.pool.query(
      'DELETE FROM broadcast_deferrals WHERE organization_id = $1 AND broadcast_id = $2',
      values,
    )
    expect(await reason()).toBe('no outcome yet')
  })
})

describe('the recipients as a file', () => {
  const download = (query = '') =>
    at.world.request('GET', `/broadcasts/${id}/recipients?format=csv${query}`, { key: at.organization.key })

  it('contain all of them with every field', async () => {
    const answer = await download()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="recipients-${id}.csv"`)
    const rows: Record<string, string>[] = parse(answer.body, { bom: true, columns: true })
    const { recipients } = await page('')
    expect(rows).toEqual(
      recipients.map((one: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(one).map(([name, value]) => [name, String(value ?? '')])),
      ),
    )
    expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(recipients[0]))
  })

  it('can be filtered by status', async () => {
    const rows: Record<string, string>[] = parse((await download('&status=failed')).body, { bom: true, columns: true })
    expect(rows.map(({ chatNumber, errorCode }) => [chatNumber, errorCode])).toEqual([
      [numbers.refused, '131026'],
      [numbers.failed, '131049'],
    ])
  })
})
