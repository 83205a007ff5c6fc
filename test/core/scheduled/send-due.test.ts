import { describe, expect, it } from 'vitest'
import { prune } from '../../../src/core/maintenance/maintenance.js'
import { adoptRestoredDatabase } from '../../../src/core/processes/histories.js'
import { sendDueMessage } from '../../../src/core/scheduled/send-due.js'
import { countPausedScheduled } from '../../../src/storage/scheduled/paused.js'
import { claimScheduled } from '../../../src/storage/scheduled/sending.js'
import { DAY, HOUR, MINUTE } from '../../support/broadcasts.js'
import { receive, textMessage } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { createInstance } from '../../support/instances.js'
import { hold, untilWaiting } from '../../support/locks.js'
import { inTime, LATER_MS, passTime } from '../../support/scheduled.js'
import { startSendWorld } from '../../support/send-chat.js'
import { useStarted } from '../../support/started.js'

const sends = useStarted(startSendWorld)

async function schedule(phone_number: string, fields: object = {}, ms = LATER_MS): Promise<string> {
  const body = { phone_number, message_type: 'text', text: 'later', scheduled_at: inTime(sends.world, ms), ...fields }
  const answer = await sends.send(body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body.scheduled.id
}

const ask = (method: string, path: string, body?: unknown) =>
  sends.world.request(method, path, { key: sends.organization.key, body })

/** The scheduled messages of a contact that wait. */
async function waiting(digits: string) {
  const { id } = (await contact(sends.world, sends.organization, digits)).body.contact
  return (await ask('GET', `/scheduled?contact_id=${id}`)).body.scheduled
}

const run = (id: string, signal = new AbortController().signal) =>
  sendDueMessage(sends.world.app.ctx, sends.organization.id, id, signal)
const query = (sql: string, values: unknown[] = []) => sends.world.database.pool.query(sql, values)
/** WhatsApp accepts nothing for this recipient, because of a rate. */
const refuseFor = (digits: string) => sends.world.sim('PUT', `/recipients/${digits}`, { code: 130429 })
const acceptFor = (digits: string) => sends.world.sim('DELETE', `/recipients/${digits}`)
const storedFile = (id: string) => sends.world.app.ctx.blobs.open(`${sends.organization.id}/${id}`)
const typesAbout = async (digits: string) => (await sends.eventsAbout(digits)).map(({ type }) => type)

/** As if a standby had taken over, or the server had been restored to this moment. */
const restore = () => sends.world.database.pool.query(`UPDATE event_histories SET server = 'before/' || n`)

describe('after a restore', () => {
  it('what is due is not sent until it has a new time; what is to come is sent', async () => {
    const [due, claimed, later] = [await sends.newContact(), await sends.newContact(), await sends.newContact()]
    const dueId = await schedule(due)
    const claimedId = await schedule(claimed)
    await schedule(later, {}, 2 * LATER_MS)
    sends.world.advance(LATER_MS)
    const { ctx } = sends.world.app
    expect(await claimScheduled(ctx.database, sends.organization.id, claimedId, sends.world.now())).toBe(true)
    await restore()
    // Before the new history has begun, nothing is claimed.
    expect(await claimScheduled(ctx.database, sends.organization.id, dueId, sends.world.now())).toBe(false)
    await adoptRestoredDatabase(ctx)
    await passTime(sends.world, 0)
    for (const digits of [due, claimed]) {
      expect(await waiting(digits)).toMatchObject([{ status: 'paused', reason: 'restored' }])
      expect((await sends.eventsAbout(digits)).at(-1)).toMatchObject({
        type: 'message.scheduled',
        data: { scheduled: { status: 'paused', reason: 'restored' } },
      })
      expect(await sends.arrived(digits)).toEqual([])
    }
    expect(await waiting(later)).toMatchObject([{ status: 'scheduled', reason: null }])
    const other = await sends.world.createOrganization()
    const paused = await countPausedScheduled(ctx.database, sends.world.now())
    expect(paused).toEqual([{ slug: sends.organization.slug, count: expect.any(Number) }])
    expect(paused.map(({ slug }) => slug)).not.toContain(other.slug)
    const metrics = await (await fetch(`${sends.world.app.url}/metrics`)).text()
    expect(metrics).toMatch(new RegExp(`^parley_scheduled_paused ${paused[0]?.count}$`, 'm'))

    await passTime(sends.world)
    expect(await sends.arrived(later)).toHaveLength(1)
    expect(await sends.arrived(due)).toEqual([])
    const now = { scheduled_at: inTime(sends.world, 0) }
    expect((await ask('PATCH', `/scheduled/${dueId}`, now)).body.scheduled).toMatchObject({
      status: 'scheduled',
      reason: null,
    })
    await passTime(sends.world, 0)
    expect(await sends.arrived(due)).toHaveLength(1)
    expect((await ask('DELETE', `/scheduled/${claimedId}`)).status).toBe(200)
  })
})

describe('a message that WhatsApp does not accept at this moment', () => {
  it('is tried again, as the same message, until it is accepted', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits, { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg') })
    await refuseFor(digits)
    await passTime(sends.world, LATER_MS, 2)
    expect(await sends.shown(digits)).toMatchObject([{ id, message_status: 'sent', outcome: 'pending' }])
    expect(await waiting(digits)).toMatchObject([{ id, status: 'sending', error: { code: 'upstream_unavailable' } }])
    expect((await ask('DELETE', `/scheduled/${id}`)).status).toBe(409)
    expect(await typesAbout(digits)).toEqual(['contact.created', 'message.scheduled'])
    await acceptFor(digits)
    await passTime(sends.world, MINUTE)
    expect(await sends.arrived(digits)).toHaveLength(1)
    expect(await sends.shown(digits)).toMatchObject([{ id, message_status: 'sent', outcome: null }])
    expect(await typesAbout(digits)).toEqual(['contact.created', 'message.scheduled', 'message.sent'])
    expect(await waiting(digits)).toEqual([])
  })

  it('fails after ten minutes', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    await refuseFor(digits)
    await passTime(sends.world, LATER_MS, 1)
    await passTime(sends.world, 11 * MINUTE, 1)
    expect(await sends.shown(digits)).toMatchObject([{ id, message_status: 'failed', error: { code: 130429 } }])
    expect((await typesAbout(digits)).at(-1)).toBe('message.failed')
    expect(await waiting(digits)).toEqual([])
  })

  it('is not sent again after a restore, since it may have been sent', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    await refuseFor(digits)
    await passTime(sends.world, LATER_MS, 1)
    await restore()
    await adoptRestoredDatabase(sends.world.app.ctx)
    await acceptFor(digits)
    await passTime(sends.world, MINUTE)
    expect(await sends.arrived(digits)).toEqual([])
    expect(await sends.shown(digits)).toMatchObject([{ id, outcome: 'unknown' }])
  })

  it('is sent by the next process if this one stops while it waits', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    await refuseFor(digits)
    sends.world.advance(LATER_MS)
    const stop = new AbortController()
    const sending = run(id, stop.signal)
    await expect.poll(async () => (await query('SELECT FROM messages WHERE id = $1', [id])).rowCount).toBe(1)
    stop.abort()
    expect(await sending).toEqual({ againInMs: 0 })
    await acceptFor(digits)
    expect(await run(id)).toBeNull()
    expect(await sends.arrived(digits)).toHaveLength(1)
  })
})

it('begins nothing when its process stops', async () => {
  const digits = await sends.newContact()
  const id = await schedule(digits)
  sends.world.advance(LATER_MS)
  expect(await run(id, AbortSignal.abort())).not.toBeNull()
  expect(await sends.shown(digits)).toEqual([])
  expect(await run(id)).toBeNull()
  expect(await sends.arrived(digits)).toHaveLength(1)
})

it('keeps the order of the messages to one contact', async () => {
  const digits = await sends.newContact()
  const scheduled_at = inTime(sends.world)
  const picture = { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg') }
  for (const fields of [picture, { text: 'second' }, { text: 'third' }]) {
    await schedule(digits, { ...fields, scheduled_at })
  }
  await passTime(sends.world)
  const arrived = await sends.arrived(digits)
  expect(arrived.map(({ payload }) => payload.text?.body ?? payload.type)).toEqual(['image', 'second', 'third'])
})

describe('late', () => {
  it('waits for somebody six hours after its time', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    await passTime(sends.world, LATER_MS + 6 * HOUR + MINUTE)
    expect(await waiting(digits)).toMatchObject([{ id, status: 'paused', reason: 'late' }])
    expect(await typesAbout(digits)).toEqual(['contact.created', 'message.scheduled', 'message.scheduled'])
    await ask('PATCH', `/scheduled/${id}`, { text: 'still' })
    expect(await waiting(digits)).toMatchObject([{ id, status: 'paused', reason: 'late', message: 'still' }])
    await ask('PATCH', `/scheduled/${id}`, { scheduled_at: inTime(sends.world, 0) })
    await passTime(sends.world, 0)
    expect(await sends.arrived(digits)).toMatchObject([{ payload: { text: { body: 'still' } } }])
  })

  it('is sent up to six hours after its time', async () => {
    const digits = await sends.newContact()
    await schedule(digits)
    await passTime(sends.world, LATER_MS + 6 * HOUR - MINUTE)
    expect(await sends.arrived(digits)).toHaveLength(1)
  })
})

describe('a message that cannot be sent', () => {
  it('fails in its conversation, with message.failed, if WhatsApp refuses it', async () => {
    // The simulator answers this number with 131047: the 24-hour window is closed.
    const digits = '5511988000002'
    await ask('POST', '/contact', { phone_number: `+${digits}` })
    const id = await schedule(digits)
    await passTime(sends.world)
    expect(await sends.shown(digits)).toMatchObject([{ id, message_status: 'failed', error: { code: 131047 } }])
    expect(await typesAbout(digits)).toEqual(['contact.created', 'message.scheduled', 'message.failed'])
    expect(await waiting(digits)).toEqual([])
  })

  it('fails likewise if its contact is blocked by then', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits, { text: 'to nobody' })
    await ask('PATCH', `/contact?chat_id=${digits}`, { blocked: true })
    await passTime(sends.world)
    expect(await sends.arrived(digits)).toEqual([])
    expect(await sends.shown(digits)).toMatchObject([
      {
        id,
        message: 'to nobody',
        message_type: 'text',
        message_status: 'failed',
        error: { code: 'contact_blocked', text: expect.stringContaining('is blocked') },
        sender_type: 'bot-chat',
      },
    ])
    const event = (await sends.eventsAbout(digits)).at(-1)
    expect(event).toMatchObject({
      type: 'message.failed',
      data: { message: { id, status: 'failed', text: 'to nobody' } },
    })
    expect(await waiting(digits)).toEqual([])
    // The numbers of the conversation go on.
    await ask('PATCH', `/contact?chat_id=${digits}`, { blocked: false })
    await sends.sent({ phone_number: digits, message_type: 'text', text: 'again' })
    expect((await sends.shown(digits)).map(({ message }) => message).sort()).toEqual(['again', 'to nobody'])
  })

  it('fails before its file is read if the contact is blocked', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits, { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg') })
    await ask('PATCH', `/contact?chat_id=${digits}`, { blocked: true })
    await sends.world.app.ctx.blobs.remove([`${sends.organization.id}/${id}`])
    await passTime(sends.world)
    expect(await sends.shown(digits)).toMatchObject([{ message_status: 'failed', error: { code: 'contact_blocked' } }])
  })

  it('says at once that its instance is deleted', async () => {
    const digits = await sends.newContact()
    await createInstance(sends.world, sends.organization, { integration: 'SANDBOX' })
    await schedule(digits, { instance: 'shop' })
    expect(await waiting(digits)).toMatchObject([{ instance: 'shop', error: null }])
    expect((await ask('DELETE', '/gateway/instance/delete/shop')).status).toBe(200)
    expect(await waiting(digits)).toMatchObject([{ instance: null, error: { code: 'instance_not_found' } }])
    await passTime(sends.world)
    expect(await sends.shown(digits)).toMatchObject([
      { message_status: 'failed', error: { code: 'instance_not_found' } },
    ])
  })

  it('waits if the upload fails, and says so', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits, { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg') })
    await sends.world.sim('POST', '/settings', { upload_fails: 1 })
    await passTime(sends.world, LATER_MS, 1)
    expect(await waiting(digits)).toMatchObject([
      { id, status: 'scheduled', error: { code: 'upstream_upload_failed' } },
    ])
    await sends.world.sim('POST', '/settings', { upload_fails: 0 })
    await passTime(sends.world, 0)
    expect(await sends.arrived(digits)).toHaveLength(1)
  })

  it('fails with its picture, and as a reaction without a number', async () => {
    const digits = await sends.newContact()
    const target = await sends.sent({ phone_number: digits, message_type: 'text', text: 'Hello' })
    const picture = { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg'), caption: 'See' }
    const pictureId = await schedule(digits, picture)
    await schedule(digits, { message_type: 'reaction', text: undefined, reaction: { message_id: target } })
    await ask('PATCH', `/contact?chat_id=${digits}`, { blocked: true })
    await passTime(sends.world)
    const shown = await sends.shown(digits)
    expect(shown).toHaveLength(2)
    const failed = shown.find(({ id }) => id === pictureId)
    expect(failed).toMatchObject({ message: 'See', media_type: 'image', message_status: 'failed' })
    expect((await fetch(failed.media_url)).status).toBe(200)
    const failures = (await typesAbout(digits)).filter((type) => type === 'message.failed')
    expect(failures).toHaveLength(2)
  })

  it('waits while something passing is in the way, and tells what it is', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    const { id: contactId } = (await contact(sends.world, sends.organization, digits)).body.contact
    sends.world.advance(LATER_MS)
    const held = await hold(sends.world.database, 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', [contactId])
    try {
      expect(await run(id)).toEqual({ againInMs: expect.any(Number) })
    } finally {
      await held.release()
    }
    expect(await waiting(digits)).toMatchObject([{ status: 'scheduled', error: { code: 'service_unavailable' } }])
    await passTime(sends.world, 0)
    expect(await sends.arrived(digits)).toHaveLength(1)
  })
})

describe('its job', () => {
  it('looks again if a new history begins while it takes over a message', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    sends.world.advance(LATER_MS)
    await query(
      `UPDATE scheduled_messages SET status = 'sending', scheduled_at = scheduled_at + interval '1 hour' WHERE id = $1`,
      [id],
    )
    // It is not claimed, as one that is being sent when another history has begun is not.
    expect(await run(id)).toEqual({ againInMs: expect.any(Number) })
    await ask('DELETE', `/contact?chat_id=${digits}`)
  })

  it('finishes what a process began that died after it had recorded the message', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    await passTime(sends.world)
    await sends.world.database.pool.query(
      `UPDATE scheduled_messages SET status = 'sending', ended_at = NULL WHERE id = $1`,
      [id],
    )
    expect((await ask('DELETE', `/scheduled/${id}`)).status).toBe(409)
    expect(await run(id)).toBeNull()
    expect(await sends.arrived(digits)).toHaveLength(1)
    expect(await waiting(digits)).toEqual([])
  })

  it('sends once in two processes', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    sends.world.advance(LATER_MS)
    await Promise.all([run(id), run(id), run(id)])
    expect(await sends.arrived(digits)).toHaveLength(1)
    expect((await sends.shown(digits)).map((one) => one.id)).toEqual([id])
  })

  it('runs again at the time that the message has now', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    await ask('PATCH', `/scheduled/${id}`, { scheduled_at: inTime(sends.world, 2 * LATER_MS) })
    const again = await run(id)
    expect(again?.againInMs).toBeGreaterThan(LATER_MS)
    await ask('DELETE', `/scheduled/${id}`)
    expect(await run(id)).toBeNull()
  })

  it('sends or cancels, and not both', async () => {
    const digits = await sends.newContact()
    const id = await schedule(digits)
    sends.world.advance(LATER_MS)
    const held = await hold(sends.world.database, 'SELECT FROM scheduled_messages WHERE id = $1 FOR UPDATE', [id])
    const cancelling = ask('DELETE', `/scheduled/${id}`)
    await untilWaiting(sends.world.database, 1)
    const sending = run(id)
    await held.release()
    await sending
    const arrived = await sends.arrived(digits)
    expect([(await cancelling).status, arrived.length]).toEqual(arrived.length === 0 ? [200, 0] : [409, 1])
  })
})

describe('its contact', () => {
  it('takes it along when it is erased, with the file and the kept answer', async () => {
    const digits = await sends.newContact()
    const body = {
      ...{ phone_number: digits, message_type: 'image', media_url: sends.fileUrl('jpeg') },
      scheduled_at: inTime(sends.world),
    }
    const { id } = (await sends.send(body, 'erased-later')).body.scheduled
    expect((await ask('DELETE', `/contact?chat_id=${digits}`)).status).toBe(200)
    const left = async (table: string, column = 'id') =>
      (await sends.world.database.pool.query(`SELECT FROM ${table} WHERE ${column} = $1`, [id])).rowCount
    expect([
      await left('scheduled_messages'),
      await left('media'),
      await left('idempotency_keys', 'resource_id'),
    ]).toEqual([0, 0, 0])
    await passTime(sends.world)
    expect(await sends.world.app.ctx.blobs.open(`${sends.organization.id}/${id}`)).toBeNull()
    expect(await sends.arrived(digits)).toEqual([])
  })

  it('keeps the file of a message that has become one of another contact', async () => {
    const [digits, other] = [await sends.newContact(), await sends.newContact()]
    const picture = { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg') }
    const id = await schedule(digits, picture)
    await passTime(sends.world)
    const { id: otherId } = (await contact(sends.world, sends.organization, other)).body.contact
    // As an undone merge of before left it.
    await query('UPDATE scheduled_messages SET contact_id = $2 WHERE id = $1', [id, otherId])
    expect((await ask('DELETE', `/contact?chat_id=${other}`)).status).toBe(200)
    await sends.world.drain()
    const [{ media_url }] = await sends.shown(digits)
    expect((await fetch(media_url)).status).toBe(200)
  })

  it('cannot be deleted by a process that does not know it', async () => {
    const digits = await sends.newContact()
    await schedule(digits)
    const deleting = query('DELETE FROM contacts WHERE chat_id = $1', [digits])
    await expect(deleting).rejects.toThrow(/foreign key.*scheduled_messages/)
  })

  it('hands it on to the contact with which it is merged', async () => {
    const { world, organization } = sends
    const number = await sends.newContact()
    const text = (fields: object) => ({ messages: [{ ...textMessage('', 'hi'), from: undefined, ...fields }] })
    const named = { user_id: 'US.4711', profile: { name: 'U' } }
    await receive(world, organization, { ...text({ from_user_id: 'US.4711' }), contacts: [named] })
    const { rows } = await world.database.pool.query(
      `SELECT c.chat_id FROM contacts c JOIN contact_addresses a ON a.contact_id = c.id WHERE a.address = 'user:US.4711'`,
    )
    const id = await schedule(rows[0].chat_id, { text: 'for one person' })
    const both = { ...text({ from: number, from_user_id: 'US.4711' }), contacts: [{ ...named, wa_id: number }] }
    await receive(world, organization, both)
    expect(await waiting(number)).toMatchObject([{ id, chat_id: number }])
    await passTime(world)
    expect(await sends.arrived(number)).toMatchObject([{ payload: { text: { body: 'for one person' } } }])
  })
})

describe('a cancelled message', () => {
  it.each([
    ['leaves neither its words nor its file', false],
    ['keeps them under a legal hold', true],
  ])('%s', async (_name, isHeld) => {
    const digits = await sends.newContact()
    const picture = { message_type: 'image', text: undefined, caption: 'secret', media_url: sends.fileUrl('jpeg') }
    const id = await schedule(digits, picture)
    const { world, organization } = sends
    const heldAt = `/organizations/${organization.id}/hold`
    if (isHeld) await world.admin('PUT', heldAt, { reason: 'case 1', by: 'Ana' })
    expect((await ask('DELETE', `/scheduled/${id}`)).status).toBe(200)
    await world.drain()
    if (isHeld) await world.admin('DELETE', heldAt)
    const { rows } = await query('SELECT row_to_json(s)::text AS row FROM scheduled_messages s WHERE id = $1', [id])
    const media = await query('SELECT FROM media WHERE id = $1', [id])
    const file = await storedFile(id)
    file?.destroy()
    const kept = [rows[0].row.includes('secret'), media.rowCount, file !== null]
    expect(kept).toEqual(isHeld ? [true, 1, true] : [false, 0, false])
  })
})

describe('retention', () => {
  it('deletes what has ended, with the file of what was cancelled, after the days of the organization', async () => {
    const digits = await sends.newContact()
    const picture = { message_type: 'image', text: undefined, media_url: sends.fileUrl('jpeg') }
    const cancelled = await schedule(digits, picture)
    const sent = await schedule(digits)
    const pending = await schedule(digits, {}, 200 * DAY)
    await ask('DELETE', `/scheduled/${cancelled}`)
    await passTime(sends.world)
    const rows = async () =>
      (
        await sends.world.database.pool.query('SELECT id FROM scheduled_messages WHERE id = ANY ($1)', [
          [cancelled, sent, pending],
        ])
      ).rows.map((row) => row.id)
    await prune(sends.world.app.work)
    expect(await rows()).toHaveLength(3)
    sends.world.advance(31 * DAY)
    await prune(sends.world.app.work)
    await sends.world.drain()
    expect(await rows()).toEqual([pending])
    expect(await sends.world.app.ctx.blobs.open(`${sends.organization.id}/${cancelled}`)).toBeNull()
  })
})
