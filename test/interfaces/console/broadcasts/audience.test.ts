import { beforeAll, describe, expect, it } from 'vitest'
import { NO_ID, startBroadcastWorld } from '../../../support/broadcasts.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startBroadcastWorld)
let owner: SignedInMember

beforeAll(async () => {
  owner = await signIn(at.world, at.organization)
})

const ask = (audience: object, by = owner) => by.call('POST', '/audience', { body: { audience } })
const rowsOf = async (table: string) =>
  (await at.world.database.pool.query(`SELECT count(*)::int AS rows FROM ${table}`)).rows[0].rows

/** Counts an audience, and then creates a broadcast with it, which must have the same counts. */
async function countAndTry(audience: object) {
  const before = [await rowsOf('contacts'), await rowsOf('broadcast_recipients'), await rowsOf('events')]
  const { status, body } = await ask(audience)
  expect(status, JSON.stringify(body)).toBe(200)
  expect([await rowsOf('contacts'), await rowsOf('broadcast_recipients'), await rowsOf('events')]).toEqual(before)
  const made = await at.create({ audience, scheduled_at: '2999-01-01T00:00:00Z' })
  const { rows } = await at.world.database.pool.query(
    `SELECT skip_reason AS reason, count(*)::int AS count FROM broadcast_recipients
     WHERE broadcast_id = $1 AND skip_reason IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1`,
    [made.id],
  )
  expect(body).toMatchObject({
    success: true,
    total: made.totalRecipients + made.skippedRecipients,
    reachable: made.totalRecipients,
    skipped: rows,
  })
  return body
}

describe('POST /console/api/audience', () => {
  it('counts a list as a broadcast would, and writes nothing', async () => {
    const [good, blocked, unwanted, foreign] = [
      await at.newContact(),
      await at.newContact(),
      await at.newContact({ allow_broadcast: false }),
      await at.newContact({}, at.other),
    ]
    await at.ask('PATCH', `/contact?chat_id=${blocked.digits}`, { body: { blocked: true } })
    const optedOut = at.newNumber()
    await at.world.request('POST', '/opt-outs/import', {
      key: at.organization.key,
      body: `phone_number,opted_out_at\n${optedOut},2026-01-01\n`,
      headers: { 'content-type': 'text/csv' },
    })
    const unknown = at.newNumber()
    const numbers = ['hello', '12', `0${'1'.repeat(19)}`, good.digits, blocked.digits, unwanted.digits, optedOut]
    const twice = [unknown, `+${unknown}`, '+55 11 98765-4321', '551187654321']
    const count = await countAndTry({
      recipients: [...numbers, ...twice].map((chatNumber) => ({ chatNumber })),
      contactIds: [good.id.toUpperCase(), blocked.id, foreign.id, NO_ID],
    })
    expect(count).toMatchObject({
      success: true,
      total: 15,
      reachable: 3,
      skipped: [
        { reason: 'duplicate', count: 4 },
        { reason: 'no such contact', count: 3 },
        { reason: 'not a number', count: 2 },
        { reason: 'allow_broadcast is false', count: 1 },
        { reason: 'blocked', count: 1 },
        { reason: 'opted out', count: 1 },
      ],
    })
  })

  it('counts by tags and all, each contact once', async () => {
    const [one, both, unwanted] = [
      await at.newContact({ tags: ['vip'] }),
      await at.newContact({ tags: ['vip', 'new'] }),
      await at.newContact({ tags: ['new'], allow_broadcast: false }),
    ]
    await at.newContact({ tags: ['vip'] }, at.other)
    expect(await countAndTry({ tags: ['vip', 'new'] })).toMatchObject({ total: 3, reachable: 2 })
    const listed = {
      recipients: [{ chatNumber: one.digits }, { chatNumber: at.newNumber() }],
      contactIds: [unwanted.id],
    }
    expect(await countAndTry({ tags: ['vip', 'new'], ...listed })).toMatchObject({ total: 4, reachable: 3 })
    expect(await countAndTry({ tags: ['nobody'], contactIds: [both.id] })).toMatchObject({ total: 1, reachable: 1 })
    await countAndTry({ all: true, ...listed })
  })

  it('counts contacts without a number, who cannot receive templates', async () => {
    await at.world.database.pool.query(
      `UPDATE contacts SET phone_number = NULL, network_id = '1234@g.us' WHERE id = $1`,
      [(await at.newContact({ tags: ['groups'] })).id],
    )
    expect(await countAndTry({ tags: ['groups'] })).toMatchObject({
      reachable: 0,
      skipped: [{ reason: 'not a number', count: 1 }],
    })
  })

  it('counts lists of several batches as they are prepared', async () => {
    const blocked = await at.newContact()
    await at.ask('PATCH', `/contact?chat_id=${blocked.digits}`, { body: { blocked: true } })
    const fill = Array.from({ length: 499 }, () => ({ chatNumber: at.newNumber() }))
    const recipients = [{ chatNumber: blocked.digits }, ...fill, { chatNumber: blocked.digits }, ...fill.slice(0, 3)]
    expect(await countAndTry({ recipients })).toMatchObject({
      total: 504,
      reachable: 499,
      skipped: [
        { reason: 'duplicate', count: 3 },
        { reason: 'blocked', count: 2 },
      ],
    })
  })

  it('counts no contact of another organization', async () => {
    const { id, digits } = await at.newContact()
    const stranger = await signIn(at.world, at.other)
    const { body } = await ask({ contactIds: [id] }, stranger)
    expect(body).toMatchObject({ reachable: 0, skipped: [{ reason: 'no such contact', count: 1 }] })
    // In that organization the number has no contact yet.
    expect((await ask({ recipients: [{ chatNumber: digits }] }, stranger)).body).toMatchObject({ reachable: 1 })
  })

  it('is available to every role', async () => {
    for (const role of ['agent', 'analyst'] as const) {
      expect((await ask({ all: true }, await signIn(at.world, at.organization, { role }))).status).toBe(200)
    }
  })

  it.each([
    [{}, 'Missing required field', 'audience'],
    [{ tags: [] }, 'Missing required field', 'audience'],
    [{ tags: 'vip' }, 'Invalid field', 'audience.tags'],
    [{ contactIds: ['1'] }, 'Invalid field', 'audience.contactIds[0]'],
    [{ recipients: [{}] }, 'Missing required field', 'audience.recipients[0].chatNumber'],
  ])('returns 400 for %j', async (audience, error, path) => {
    const { status, body } = await ask(audience)
    expect([status, body.error, body.message]).toEqual([400, error, expect.stringContaining(path)])
  })
})
