import { afterEach, describe, expect, it } from 'vitest'
import { reconcileBroadcasts } from '../../../src/core/broadcasts/reconcile.js'
import { resolveContact } from '../../../src/core/contacts/resolution/resolve-contact.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { startBroadcastWorld } from '../../support/broadcasts.js'
import { receiveMessages, seconds, wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { type Held, hold, untilWaiting } from '../../support/locks.js'
import { useStarted } from '../../support/started.js'

const at = useStarted(startBroadcastWorld)
const holding: Held[] = []

afterEach(async () => {
  for (const held of holding.splice(0)) await held.release()
  await at.world.drain()
})

/** Inserts thousands of contacts at once; returns their ids in order. */
async function seedContacts(count: number, tag: string): Promise<string[]> {
  const ids = Array.from({ length: count }, newId)
  await at.world.database.pool.query(
    `WITH contact AS (
       INSERT INTO contacts (organization_id, id, chat_id, phone_number, tags, allow_broadcast, created_at)
       SELECT $1, id, '1650' || (2000000 + $3 * 10000 + n), '+1650' || (2000000 + $3 * 10000 + n), ARRAY[$4], n % 10 <> 0,
         now() - interval '1 day'
       FROM unnest($2::uuid[]) WITH ORDINALITY AS given (id, n)
       RETURNING id, chat_id
     )
     INSERT INTO contact_addresses (organization_id, address, contact_id) SELECT $1, chat_id, id FROM contact`,
    [at.organization.id, ids, ++seeded, tag],
  )
  return ids
}
let seeded = 0

const inAnHour = () => new Date(at.world.now().getTime() + 3_600_000).toISOString()

async function rowsOf(broadcastId: string) {
  const { rows } = await at.world.database.pool.query<{
    n: number
    contact_id: string | null
    skip_reason: string | null
  }>('SELECT n, contact_id, skip_reason FROM broadcast_recipients WHERE broadcast_id = $1 ORDER BY n', [broadcastId])
  return rows
}

describe('preparing the recipients of a large broadcast', () => {
  it('by tags takes each once and in order across batches', async () => {
    const ids = await seedContacts(4_001, 'many')
    await seedContacts(5, 'few')
    const { id } = await at.create({ scheduled_at: inAnHour(), audience: { tags: ['many', 'none'] } })
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'scheduled', totalRecipients: 3_601, skippedRecipients: 400 })
    const rows = await rowsOf(id)
    expect(rows.map(({ n }) => n)).toEqual(ids.map((_, index) => index + 1))
    expect(rows.map(({ contact_id }) => contact_id)).toEqual(ids)
    expect(rows.filter(({ skip_reason }) => skip_reason === 'allow_broadcast is false')).toHaveLength(400)
    await at.act(id, 'cancel')
    await at.expectNoDrift()
  })

  it.each([2_000, 4_000])('ends correctly if a batch ends with the last of %i', async (count) => {
    await seedContacts(count, `exactly${count}`)
    const { id } = await at.create({ scheduled_at: inAnHour(), audience: { tags: [`exactly${count}`] } })
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ totalRecipients: count * 0.9, skippedRecipients: count / 10 })
    const { rows } = await at.world.database.pool.query('SELECT prepared_at FROM broadcasts WHERE id = $1', [id])
    expect(rows[0].prepared_at).not.toBeNull()
    await at.act(id, 'cancel')
  })

  it('by a list sends once to a recipient listed twice, wherever the batches end', async () => {
    const ids = await seedContacts(700, 'listed')
    const numbers = Array.from({ length: 600 }, (_, index) => `1650300${1_000 + index}`)
    const recipients = [...numbers, ...numbers.toReversed()].map((chatNumber) => ({ chatNumber }))
    const { id } = await at.create({
      scheduled_at: inAnHour(),
      audience: { recipients, contactIds: [...ids, ...ids], tags: ['listed'] },
    })
    await at.world.drain()
    const rows = await rowsOf(id)
    expect(rows).toHaveLength(2_600)
    const reasons = rows.map(({ skip_reason }) => skip_reason)
    expect(reasons.slice(0, 600).filter((reason) => reason !== null)).toEqual([])
    expect(new Set(reasons.slice(600, 1_200))).toEqual(new Set(['duplicate']))
    expect(reasons.slice(1_200, 1_900).filter((reason) => reason === null)).toHaveLength(630)
    expect(reasons.slice(1_900).filter((reason) => reason === null)).toEqual([])
    expect(new Set(rows.map(({ contact_id }) => contact_id)).size).toBe(1_300)
    expect(await at.read(id)).toMatchObject({ totalRecipients: 1_230, skippedRecipients: 1_370 })
    await at.act(id, 'cancel')
    await at.expectNoDrift()
  })

  it('deletes those that are not prepared once it is cancelled, in batches', async () => {
    const { id } = await at.create({
      scheduled_at: inAnHour(),
      audience: { recipients: [{ chatNumber: '16502000000' }] },
    })
    const { pool } = at.world.database
    await pool.query('UPDATE broadcasts SET prepared_at = NULL WHERE id = $1', [id])
    await pool.query(
      `INSERT INTO broadcast_recipients (organization_id, broadcast_id, campaign_id, n, number, message_id)
       SELECT $1, $2, $2, n, 16502000000 + n, gen_random_uuid() FROM generate_series(2, 12000) AS n`,
      [at.organization.id, id],
    )
    expect((await at.act(id, 'cancel')).status).toBe(200)
    await at.world.drain()
    const { rows } = await pool.query('SELECT max(n), count(*) FROM broadcast_recipients WHERE broadcast_id = $1', [id])
    expect(rows).toEqual([{ max: 1, count: 1 }])
  })

  it('sends to all of them once', async () => {
    await seedContacts(450, 'sent')
    const { id } = await at.send({ audience: { tags: ['sent'] } })
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 405, skippedRecipients: 45 })
    const arrived = (await at.arrived()).map(({ to }) => to)
    expect(arrived).toHaveLength(405)
    expect(new Set(arrived).size).toBe(405)
    const pages = await Promise.all(
      [1, 2, 3, 4, 5].map((page) => at.recipients(id, `status=sent&limit=100&page=${page}`)),
    )
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 100, 100, 5])
    await at.expectNoDrift()
  })
})

describe('preparing recipients continues correctly while', () => {
  /** Starts creating a broadcast that stops before its first batch, because the first contact's row is locked. */
  async function begin(fields: object) {
    const { id: contactId, digits } = await at.newContact()
    const held = await hold(at.world.database, 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', [contactId])
    holding.push(held)
    const made = at.create({ scheduled_at: inAnHour(), ...fields, audience: audienceOf(fields, digits) })
    await untilWaiting(at.world.database, 1)
    return { made, go: held.release }
  }

  const audienceOf = (fields: { audience?: object }, digits: string) => ({
    ...fields.audience,
    recipients: [{ chatNumber: digits }],
  })

  it('one of their contacts is erased: it is left out, and the counts stay right', async () => {
    const [gone, stays] = [await at.newContact(), await at.newContact()]
    const { made, go } = await begin({ audience: { contactIds: [gone.id, stays.id] } })
    expect((await at.ask('DELETE', `/contact?chat_id=${gone.digits}`)).status).toBe(200)
    await go()
    const { id } = await made
    expect(await at.outcomes(id)).toEqual(['pending', 'skipped: no such contact', 'pending'])
    expect(await at.read(id)).toMatchObject({ totalRecipients: 2, skippedRecipients: 1 })
    await at.expectNoDrift()
  })

  it('two of their contacts are merged: the contact receives it at most once, and the counts stay correct', async () => {
    const [digits, userId] = [at.newNumber(), 'US.33491208655302741']
    const older = await createContact(at.world, at.organization, `+${digits}`)
    const inbound = { from_user_id: userId, id: wamid(), timestamp: seconds(), type: 'text', text: { body: 'hello' } }
    await receiveMessages(at.world, at.organization, inbound)
    const { rows } = await at.world.database.pool.query('SELECT contact_id FROM contact_addresses WHERE address = $1', [
      `user:${userId}`,
    ])
    const { made, go } = await begin({ audience: { contactIds: [older, rows[0].contact_id] } })
    await resolveContact(at.world.app.ctx, at.organization.id, { waId: digits, userId })
    await go()
    const { id } = await made
    expect(await at.read(id)).toMatchObject({ totalRecipients: 2, skippedRecipients: 1 })
    expect((await at.outcomes(id)).filter((outcome) => outcome === 'pending')).toHaveLength(2)
    await at.expectNoDrift()
  })

  it('the broadcast is cancelled: the rest is left out', async () => {
    const { made, go } = await begin({ audience: { contactIds: [(await at.newContact()).id] } })
    const { rows } = await at.world.database.pool.query('SELECT id FROM broadcasts ORDER BY created_at DESC LIMIT 1')
    const cancelled = at.act(rows[0].id, 'cancel')
    await untilWaiting(at.world.database, 2)
    await go()
    expect((await cancelled).status).toBe(200)
    const { id } = await made
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'cancelled', totalRecipients: 0 })
    await at.expectNoDrift()
  })

  it('the database fails: the broadcast is created anyway, and a job prepares them', async () => {
    const { pool } = at.world.database
    await pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$`,
    )
    await pool.query(
      'CREATE TRIGGER refuse BEFORE UPDATE OF prepared_n ON broadcasts FOR EACH ROW EXECUTE FUNCTION refuse()',
    )
    const answer = await at.post({ audience: { recipients: [{ chatNumber: at.newNumber() }] } })
    await pool.query('DROP FUNCTION refuse CASCADE')
    expect(answer).toMatchObject({ status: 202, body: { broadcast: { status: 'running', totalRecipients: 0 } } })
    const { id } = answer.body.broadcast
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 1 })
    expect(await at.outcomes(id)).toEqual(['sent'])
  })

  it('the process ends: a job continues where it stopped, and starts at the scheduled time', async () => {
    await seedContacts(10, 'left')
    const { id } = await at.create({ audience: { tags: ['left'] } })
    await at.world.drain()
    await at.world.database.pool.query(
      `UPDATE broadcasts SET prepared_n = 0, prepared_contact = NULL, prepared_at = NULL, status = 'running', generation = 0,
         completed_at = NULL WHERE id = $1`,
      [id],
    )
    await at.world.database.pool.query('DELETE FROM broadcast_recipients WHERE broadcast_id = $1', [id])
    await at.world.database.pool.query('DELETE FROM campaign_deltas WHERE campaign_id = $1', [id])
    await reconcileBroadcasts(at.world.app.ctx)
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 9, skippedRecipients: 1 })
    await at.expectNoDrift()
  })
})
