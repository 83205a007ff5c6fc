import { describe, expect, it } from 'vitest'
import { NO_ID } from '../../../support/broadcasts.js'
import { contact } from '../../../support/contacts.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { eventsOf } from '../../../support/rows/events.js'
import { mediaRows } from '../../../support/rows/media.js'
import { inTime, LATER_MS, passTime } from '../../../support/scheduled.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const DAY_MS = 24 * 3_600_000

const sends = useStarted(startSendWorld)
const other = useStarted(
  () => sends.world.createOrganization(),
  () => undefined,
)

const described: ReturnType<typeof requestAsDescribed> = (...given) => requestAsDescribed(sends.world)(...given)
const ask = (method: string, path: string, body?: unknown, key = sends.organization.key) =>
  described(method, path, { key, ...(body !== undefined && { body }) })

/** Takes a message for later, which must succeed; resolves to it. */
async function schedule(phone_number: string, fields: object = {}, ms = LATER_MS) {
  const body = {
    phone_number,
    message_type: 'text',
    text: 'Good morning',
    scheduled_at: inTime(sends.world, ms),
    ...fields,
  }
  const answer = await ask('POST', '/send-chat', body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body.scheduled
}

/** The messages that wait for a contact. */
async function waiting(digits: string, query = '') {
  const { id } = (await contact(sends.world, sends.organization, digits)).body.contact
  const answer = await ask('GET', `/scheduled?contact_id=${id}${query}`)
  expect(answer.status).toBe(200)
  return answer.body.scheduled
}

const typesAbout = async (digits: string) => (await sends.eventsAbout(digits)).map(({ type }) => type)

describe('POST /send-chat with scheduled_at', () => {
  it('answers 202, and sends the message once when its time has come', async () => {
    const digits = await sends.newContact()
    const { id } = (await contact(sends.world, sends.organization, digits)).body.contact
    const at = inTime(sends.world)
    const answer = await ask('POST', '/send-chat', {
      phone_number: digits,
      message_type: 'text',
      text: 'Good morning',
      scheduled_at: at,
    })
    expect(answer.status).toBe(202)
    expect(answer.body).toEqual({
      success: true,
      message: `The message will be sent at ${at}`,
      scheduled: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        scheduled_at: at,
        status: 'scheduled',
        reason: null,
        error: null,
        contact_id: id,
        chat_id: digits,
        message: 'Good morning',
        message_type: 'text',
        media_type: null,
        templateName: null,
        language: null,
        instance: null,
        memberId: null,
        created_at: expect.any(String),
      },
    })
    expect(await waiting(digits)).toEqual([answer.body.scheduled])
    await passTime(sends.world, LATER_MS / 2)
    expect(await sends.arrived(digits)).toEqual([])
    expect(await sends.shown(digits)).toEqual([])

    await passTime(sends.world, LATER_MS / 2)
    expect(await sends.arrived(digits)).toMatchObject([{ payload: { text: { body: 'Good morning' } } }])
    expect(await sends.shown(digits)).toMatchObject([
      { id: answer.body.scheduled.id, message: 'Good morning', message_status: 'sent', sender_type: 'bot-chat' },
    ])
    expect(await waiting(digits)).toEqual([])
    await passTime(sends.world)
    expect(await sends.arrived(digits)).toHaveLength(1)
    expect(await typesAbout(digits)).toEqual(['contact.created', 'message.scheduled', 'message.sent'])
  })

  it('raises message.scheduled with the message and its contact', async () => {
    const digits = await sends.newContact()
    const { id } = await schedule(digits)
    const events = await eventsOf(sends.world, sends.organization, 'message.scheduled')
    const event = events.find(({ data }) => data.scheduled.id === id)
    expect(event?.data).toMatchObject({ scheduled: { status: 'scheduled' }, contact: { chat_id: digits } })
    const feed = await ask('GET', '/events?types=message.scheduled&limit=100')
    const shown = feed.body.events.find(({ data }: { data: { scheduled: { id: string } } }) => data.scheduled.id === id)
    expect(shown.data).toEqual({
      scheduled: expect.objectContaining({ id, status: 'scheduled', message: 'Good morning' }),
      contact: expect.objectContaining({ chat_id: digits }),
    })
  })

  it('keeps the file, and sends it although its address no longer has it', async () => {
    const digits = await sends.newContact()
    const { id } = await schedule(digits, {
      message_type: 'document',
      text: undefined,
      media_url: sends.fileUrl('pdf', 'prices.pdf'),
      caption: 'Our prices',
    })
    expect(await waiting(digits)).toMatchObject([{ message: 'Our prices', media_type: 'document' }])
    // The daily maintenance removes files without a message.
    const files = await mediaRows(sends.world, sends.organization)
    expect(files.filter((file) => file.id === id)).toMatchObject([{ message_id: id, filename: 'prices.pdf' }])
    await passTime(sends.world)
    expect(await sends.arrived(digits)).toMatchObject([
      { payload: { document: { id: expect.any(String), caption: 'Our prices', filename: 'prices.pdf' } } },
    ])
    const [shown] = await sends.shown(digits)
    expect(shown).toMatchObject({ id, media_type: 'document', message_status: 'sent' })
    expect((await fetch(shown.media_url)).status).toBe(200)
  })

  it('sends a reply, and a message in the name of a member', async () => {
    const digits = await sends.newContact()
    const target = await sends.sent({ phone_number: digits, message_type: 'text', text: 'Hello' })
    await schedule(digits, { context_message_id: target })
    await passTime(sends.world)
    expect((await sends.arrived(digits)).at(-1)).toMatchObject({ payload: { context: { message_id: target } } })
  })

  it('is answered once for an Idempotency-Key, also when it is sent or cancelled', async () => {
    const digits = await sends.newContact()
    const body = {
      phone_number: digits,
      message_type: 'text',
      text: 'once',
      scheduled_at: inTime(sends.world),
    }
    const first = await sends.send(body, 'later-1')
    expect(first.status).toBe(202)
    const repeated = await sends.send(body, 'later-1')
    expect(repeated.body).toEqual(first.body)
    expect(repeated.headers.get('idempotent-replayed')).toBe('true')
    expect(await waiting(digits)).toHaveLength(1)
    await passTime(sends.world)
    // When the time is too long ago for a first request, too.
    await passTime(sends.world)
    expect((await sends.send(body, 'later-1')).body).toEqual(first.body)
    await passTime(sends.world)
    expect(await sends.arrived(digits)).toHaveLength(1)

    const other = { ...body, text: 'twice', scheduled_at: inTime(sends.world) }
    const { scheduled } = (await sends.send(other, 'later-2')).body
    expect((await ask('DELETE', `/scheduled/${scheduled.id}`)).status).toBe(200)
    await passTime(sends.world, 2 * LATER_MS)
    expect((await sends.send(other, 'later-2')).body.scheduled).toEqual(scheduled)
    expect(await sends.arrived(digits)).toHaveLength(1)
  })

  it('finds what a killed process has taken', async () => {
    const digits = await sends.newContact()
    const body = { phone_number: digits, message_type: 'text', text: 'found', scheduled_at: inTime(sends.world) }
    const first = await sends.send(body, 'later-killed')
    // As if the process had died before it kept the answer.
    await sends.world.database.pool.query(
      `UPDATE idempotency_keys SET answer = NULL, status = NULL, process_id = 2147483647 WHERE key = 'later-killed'`,
    )
    await passTime(sends.world, 2 * LATER_MS)
    const again = await sends.send(body, 'later-killed')
    expect(again.body.scheduled).toEqual({ ...first.body.scheduled, status: 'sent', message: '' })
    expect(await sends.arrived(digits)).toHaveLength(1)
  })

  it('sends at once what is up to five minutes late, and takes up to a year', async () => {
    const digits = await sends.newContact()
    await schedule(digits, {}, -4 * 60_000)
    await passTime(sends.world, 0)
    expect(await sends.arrived(digits)).toHaveLength(1)
    await schedule(digits, {}, 364 * DAY_MS)
    expect(await waiting(digits)).toHaveLength(1)
  })

  it('sends now without a time: null and empty are none', async () => {
    const digits = await sends.newContact()
    for (const scheduled_at of [null, '']) {
      const answer = await sends.send({ phone_number: digits, message_type: 'text', text: 'now', scheduled_at })
      expect(answer.status).toBe(200)
    }
  })
})

describe('POST /send-chat with scheduled_at, refusals', () => {
  const refused = async (fields: object, digits: string) =>
    (
      await ask('POST', '/send-chat', {
        phone_number: digits,
        message_type: 'text',
        text: 'no',
        scheduled_at: inTime(sends.world),
        ...fields,
      })
    ).body

  it.each([
    ['tomorrow', 'scheduled_at'],
    ['2026-12-24T18:00:00', 'time zone'],
    [12, 'scheduled_at'],
  ])('%s is no time', async (scheduled_at, named) => {
    const body = await refused({ scheduled_at }, await sends.newContact())
    expect(body).toMatchObject({ error: 'Invalid field', message: expect.stringContaining(named) })
  })

  it('a time that is past, or more than a year ahead', async () => {
    const digits = await sends.newContact()
    const past = await refused({ scheduled_at: inTime(sends.world, -6 * 60_000) }, digits)
    expect(past).toMatchObject({ error: 'Invalid field', message: expect.stringContaining('is in the past') })
    const far = await refused({ scheduled_at: inTime(sends.world, 367 * DAY_MS) }, digits)
    expect(far).toMatchObject({ error: 'Invalid field', message: expect.stringContaining('more than a year ahead') })
    expect(await waiting(digits)).toEqual([])
  })

  it('an unknown or blocked recipient, an unknown reply target, a wrong file', async () => {
    expect(await refused({}, '16505559999')).toMatchObject({ error: 'Contact not found' })
    const blocked = await sends.newContact()
    await ask('PATCH', `/contact?chat_id=${blocked}`, { blocked: true })
    expect(await refused({}, blocked)).toMatchObject({ error: 'Contact blocked' })
    const digits = await sends.newContact()
    expect(await refused({ context_message_id: 'wamid.none' }, digits)).toMatchObject({ error: 'Message not found' })
    const file = { message_type: 'image', media_url: sends.fileUrl('mp4') }
    expect(await refused(file, digits)).toMatchObject({ error: 'Invalid media' })
    expect(await refused({ instance: 'nobody' }, digits)).toMatchObject({ error: 'Instance not found' })
    expect(await refused({ memberId: NO_ID }, digits)).toMatchObject({ error: 'Invalid field' })
    expect(await waiting(digits)).toEqual([])
  })

  it('more than the organization may have', async () => {
    const digits = await sends.newContact()
    const { id } = await schedule(digits)
    await sends.world.database.pool.query(
      `INSERT INTO scheduled_messages (organization_id, id, contact_id, command, shown, has_file, cause, status, scheduled_at, created_at, size)
       SELECT organization_id, gen_random_uuid(), contact_id, command, shown, false, cause, 'scheduled', scheduled_at, created_at, size
       FROM scheduled_messages, generate_series(1, 10000) WHERE id = $1`,
      [id],
    )
    const file = { message_type: 'image', media_url: sends.fileUrl('jpeg', 'unread'), text: undefined }
    const body = await refused(file, digits)
    expect(body).toMatchObject({ error: 'Too many scheduled messages', message: expect.stringContaining('10000') })
    await sends.world.database.pool.query('DELETE FROM scheduled_messages WHERE organization_id = $1', [
      sends.organization.id,
    ])
  })
})

it('refuses more bytes than the organization may have, until some are cancelled', async () => {
  const digits = await sends.newContact()
  const { id } = await schedule(digits)
  await sends.world.database.pool.query('UPDATE scheduled_messages SET size = $2 WHERE id = $1', [id, 2 ** 31 - 10])
  const file = { message_type: 'document', media_url: sends.fileUrl('pdf'), text: undefined }
  const body = { phone_number: digits, scheduled_at: inTime(sends.world), ...file }
  const refused = await sends.send(body)
  expect([refused.status, refused.body.error]).toEqual([409, 'Too many scheduled messages'])
  await sends.world.database.pool.query('UPDATE scheduled_messages SET size = $2 WHERE id = $1', [id, 2 ** 31])
  const unknown = '16505559998'
  expect((await sends.send({ ...body, phone_number: unknown, create: true })).status).toBe(409)
  expect((await contact(sends.world, sends.organization, unknown)).status).toBe(404)
  expect(refused.body.message).toContain('2048 MB')
  expect((await mediaRows(sends.world, sends.organization)).filter((row) => row.message_id === null)).toEqual([])
  expect((await ask('DELETE', `/scheduled/${id}`)).status).toBe(200)
  await schedule(digits, file)
})

describe('GET /scheduled', () => {
  it('lists page by page, the next one first, and counts', async () => {
    const digits = await sends.newContact()
    const ids = []
    for (const ms of [3, 1, 2]) ids.push((await schedule(digits, {}, ms * LATER_MS)).id)
    const { id } = (await contact(sends.world, sends.organization, digits)).body.contact
    const first = await ask('GET', `/scheduled?contact_id=${id}&limit=2`)
    expect(first.body.scheduled.map((one: { id: string }) => one.id)).toEqual([ids[1], ids[2]])
    expect(first.body).toMatchObject({
      count: 2,
      pagination: { currentPage: 1, totalPages: 2, totalScheduled: 3, scheduledPerPage: 2, hasNextPage: true },
    })
    const second = await ask('GET', `/scheduled?contact_id=${id}&limit=2&page=2`)
    expect(second.body.scheduled.map((one: { id: string }) => one.id)).toEqual([ids[0]])
    expect((await ask('GET', `/scheduled?contact_id=${id}&status=paused`)).body.scheduled).toEqual([])
    expect((await ask('GET', '/scheduled?status=sent')).status).toBe(400)
    expect((await ask('GET', '/scheduled', undefined, other.key)).body.scheduled).toEqual([])
  })
})

describe('PATCH /scheduled/{id}', () => {
  it('changes time and text, and tells so', async () => {
    const digits = await sends.newContact()
    const { id } = await schedule(digits)
    const at = inTime(sends.world, 3 * LATER_MS)
    const changed = await ask('PATCH', `/scheduled/${id}`, { scheduled_at: at, text: 'Good evening' })
    expect(changed).toMatchObject({
      status: 200,
      body: { scheduled: { id, scheduled_at: at, message: 'Good evening' } },
    })
    await passTime(sends.world, 2 * LATER_MS)
    expect(await sends.arrived(digits)).toEqual([])
    await passTime(sends.world, LATER_MS)
    expect(await sends.arrived(digits)).toMatchObject([{ payload: { text: { body: 'Good evening' } } }])
    expect(await typesAbout(digits)).toEqual([
      'contact.created',
      'message.scheduled',
      'message.scheduled',
      'message.sent',
    ])
  })

  it('brings a message forward', async () => {
    const digits = await sends.newContact()
    const { id } = await schedule(digits, {}, 30 * DAY_MS)
    expect((await ask('PATCH', `/scheduled/${id}`, { scheduled_at: inTime(sends.world, 0) })).status).toBe(200)
    await passTime(sends.world, 0)
    expect(await sends.arrived(digits)).toHaveLength(1)
  })

  it('refuses nothing to change, a wrong time, the text of a picture, and what is sent', async () => {
    const digits = await sends.newContact()
    const picture = { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg') }
    const { id } = await schedule(digits, picture)
    expect((await ask('PATCH', `/scheduled/${id}`, {})).body.error).toBe('Missing required field')
    expect((await ask('PATCH', `/scheduled/${id}`, { text: 'new' })).body).toMatchObject({
      error: 'Invalid field',
      message: expect.stringContaining('this is image'),
    })
    const past = { scheduled_at: inTime(sends.world, -DAY_MS) }
    expect((await ask('PATCH', `/scheduled/${id}`, past)).body.error).toBe('Invalid field')
    await passTime(sends.world)
    const late = { scheduled_at: inTime(sends.world) }
    expect(await ask('PATCH', `/scheduled/${id}`, late)).toMatchObject({
      status: 409,
      body: { error: 'Invalid scheduled message state', message: expect.stringContaining('it is sent') },
    })
    expect(await sends.arrived(digits)).toHaveLength(1)
  })

  it('does not know an unknown id, and those of another organization', async () => {
    const { id } = await schedule(await sends.newContact())
    const change = { text: 'theirs' }
    expect((await ask('PATCH', `/scheduled/${NO_ID}`, change)).body.error).toBe('Scheduled message not found')
    expect((await ask('PATCH', `/scheduled/${id}`, change, other.key)).status).toBe(404)
    expect((await ask('DELETE', `/scheduled/${id}`, undefined, other.key)).status).toBe(404)
    expect((await ask('PATCH', '/scheduled/none', change)).status).toBe(404)
  })
})

describe('DELETE /scheduled/{id}', () => {
  it('cancels: nothing is sent, and the id is not known any more', async () => {
    const digits = await sends.newContact()
    const { id } = await schedule(digits)
    expect(await ask('DELETE', `/scheduled/${id}`)).toMatchObject({
      status: 200,
      body: { scheduled: { id, status: 'cancelled' } },
    })
    expect(await waiting(digits)).toEqual([])
    await passTime(sends.world)
    expect(await sends.arrived(digits)).toEqual([])
    expect((await ask('DELETE', `/scheduled/${id}`)).status).toBe(404)
    expect((await ask('PATCH', `/scheduled/${id}`, { text: 'late' })).status).toBe(404)
    expect(await typesAbout(digits)).toEqual(['contact.created', 'message.scheduled', 'scheduled.cancelled'])
  })

  it('refuses what is sent', async () => {
    const digits = await sends.newContact()
    const { id } = await schedule(digits)
    await passTime(sends.world)
    expect((await ask('DELETE', `/scheduled/${id}`)).status).toBe(409)
  })
})
