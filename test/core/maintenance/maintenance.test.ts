import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expireOutcomes, prune } from '../../../src/core/maintenance/maintenance.js'
import { idBefore, newId } from '../../../src/lib/bytes/id.js'
import { post, receiveMessages, textMessage } from '../../support/callbacks.js'
import { makeSignInLink, signIn } from '../../support/console.js'
import { createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { callbackRows } from '../../support/rows/callbacks.js'
import { eventsOf } from '../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** Its connection is dropped after the message was accepted. */
const CUSTOMER = '5511999000005'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  organization = await world.createOrganization()
  await createContact(world, organization, `+${CUSTOMER}`)
})

afterEach(() => world.reset())

/** Lets the service run for this number of minutes, with its maintenance every minute, as the queue schedules it. */
async function live(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await expireOutcomes(world.app.ctx)
    world.advance(MINUTE)
  }
  await expireOutcomes(world.app.ctx)
}

/** A send whose outcome is unknown; resolves to its id. */
async function lose(): Promise<string> {
  const body = { phone_number: CUSTOMER, message_type: 'text', text: 'hello' }
  const answer = await world.request('POST', '/send-chat', { key: organization.key, body })
  expect(answer.body.error).toBe('Outcome unknown')
  return answer.body.id
}

async function shown() {
  return (await conversation(world, organization, CUSTOMER)).body.messages[0]
}

/** Messages with this text cannot be recorded. */
async function poison(): Promise<void> {
  await world.database.pool.query(
    `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`,
  )
  await world.database.pool.query(
    `CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.text = 'poison') EXECUTE FUNCTION refuse()`,
  )
}

function report(messageId: string, status: string) {
  const reported = { id: 'wamid.late', status, timestamp: '1750000000', biz_opaque_callback_data: messageId }
  return post(world, organization, { statuses: [reported] })
}

describe('a message with an unknown outcome', () => {
  it('fails after 15 minutes without a callback', async () => {
    await live(16)
    const id = await lose()
    await live(14)
    expect(await shown()).toMatchObject({ message_status: 'sent', outcome: 'unknown' })
    await live(2)
    expect(await shown()).toMatchObject({
      id,
      message_status: 'failed',
      outcome: null,
      error: { code: 'outcome_unknown', text: expect.any(String) },
    })
    const events = await eventsOf(world, organization, 'message.failed')
    expect(events.map((event) => event.data)).toMatchObject([
      { message: { id, status: 'failed' }, contact: { chat_id: CUSTOMER }, previous_status: 'sent' },
    ])
    await live(3)
    expect(await eventsOf(world, organization, 'message.failed')).toHaveLength(1)
  })

  it('fails even if another one cannot be settled', async () => {
    await live(16)
    const first = await lose()
    const second = await lose()
    await world.database.pool.query(
      `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
       CREATE TRIGGER refuse_update BEFORE UPDATE ON messages FOR EACH ROW WHEN (NEW.id = '${first}' AND NEW.status = 'failed')
         EXECUTE FUNCTION refuse()`,
    )
    const statuses = async () => {
      const { messages } = (await conversation(world, organization, CUSTOMER)).body
      return Object.fromEntries(messages.map((one: Record<string, unknown>) => [one.id, one.message_status]))
    }
    try {
      await live(17)
      expect(await statuses()).toEqual({ [first]: 'sent', [second]: 'failed' })
    } finally {
      await world.database.pool.query('DROP TRIGGER refuse_update ON messages')
    }
    await live(1)
    expect(await statuses()).toEqual({ [first]: 'failed', [second]: 'failed' })
  })

  it('is not given up within 15 minutes of the start', async () => {
    await live(1)
    await lose()
    world.advance(60 * MINUTE)
    await live(14)
    expect(await shown()).toMatchObject({ outcome: 'unknown' })
    await live(2)
    expect(await shown()).toMatchObject({ message_status: 'failed', error: { code: 'outcome_unknown' } })
  })

  it('is not given up while stored callbacks wait', async () => {
    const id = await lose()
    await report(id, 'delivered')
    await live(30)
    expect(await shown()).toMatchObject({ outcome: 'unknown' })
    await world.drain()
    expect(await shown()).toMatchObject({ message_status: 'delivered', outcome: null })
    await live(16)
    expect(await eventsOf(world, organization, 'message.failed')).toEqual([])
  })

  it('is given up under steady traffic even if some callbacks always wait', async () => {
    await lose()
    const other = await world.createOrganization()
    for (let minute = 0; minute <= 17; minute++) {
      await world.drain()
      for (const owner of [organization, other])
        await post(world, owner, { messages: [textMessage('16505550001', 'hi')] })
      await world.database.pool.query('UPDATE callbacks SET received_at = $1 WHERE waiting', [
        new Date(world.now().getTime() - 1_000),
      ])
      await expireOutcomes(world.app.ctx)
      world.advance(MINUTE)
    }
    expect(await shown()).toMatchObject({ message_status: 'failed', error: { code: 'outcome_unknown' } })
  })

  it("is given up even if a callback fails repeatedly or another organization's callbacks wait", async () => {
    await poison()
    await lose()
    await post(world, organization, { messages: [textMessage('16505550001', 'poison')] })
    for (let attempt = 1; attempt <= 4; attempt++) {
      await live(2)
      expect(await shown()).toMatchObject({ outcome: 'unknown' })
      await world.drain()
    }
    const other = await world.createOrganization()
    await post(world, other, { messages: [textMessage('16505550002', 'waits')] })
    await live(16)
    expect(await shown()).toMatchObject({ message_status: 'failed', error: { code: 'outcome_unknown' } })
  })

  it.each(['sent', 'delivered', 'read'])('is revived by a late %s', async (status) => {
    const id = await lose()
    await live(16)
    expect(await shown()).toMatchObject({ message_status: 'failed' })
    await report(id, status)
    await world.drain()
    expect(await shown()).toMatchObject({ message_status: status, error: null, message_id: 'wamid.late' })
    const types = (await eventsOf(world, organization)).map((event) => event.type)
    const after = status === 'sent' ? ['message.sent'] : ['message.sent', `message.${status}`]
    expect(types.slice(types.indexOf('message.failed') + 1)).toEqual(after)
  })

  it('keeps its reason if a failed status arrives late', async () => {
    const id = await lose()
    await live(16)
    await report(id, 'failed')
    await world.drain()
    expect(await shown()).toMatchObject({ message_status: 'failed', error: { code: 'outcome_unknown' } })
  })
})

describe('a message whose process died', () => {
  it('has an unknown outcome after half a minute, and fails after 15 minutes', async () => {
    await lose()
    await world.database.pool.query(`UPDATE messages SET outcome = 'pending'`)
    await live(0)
    expect(await shown()).toMatchObject({ outcome: 'pending' })
    await live(1)
    expect(await shown()).toMatchObject({ outcome: 'unknown' })
    await live(14)
    expect(await shown()).toMatchObject({ message_status: 'failed', error: { code: 'outcome_unknown' } })
  })
})

describe('pruning', () => {
  it('deletes callbacks and events after 30 days and kept answers after one, and no message', async () => {
    await receiveMessages(world, organization, textMessage(CUSTOMER, 'keep me'))
    await world.request('POST', '/contact', {
      key: organization.key,
      body: { phone_number: '+5511988887777' },
      headers: { 'idempotency-key': 'k' },
    })
    const counts = async () => {
      const { rows } = await world.database.pool.query(
        `SELECT (SELECT count(*) FROM callbacks) AS callbacks, (SELECT count(*) > 0 FROM events) AS events,
           (SELECT count(*) FROM idempotency_keys) AS keys, (SELECT count(*) FROM messages) AS messages`,
      )
      return rows[0]
    }
    await prune(world.app.work)
    expect(await counts()).toEqual({ callbacks: 1, events: true, keys: 1, messages: 1 })
    world.advance(2 * DAY)
    await prune(world.app.work)
    expect(await counts()).toEqual({ callbacks: 1, events: true, keys: 0, messages: 1 })
    world.advance(29 * DAY)
    await prune(world.app.work)
    expect(await counts()).toEqual({ callbacks: 0, events: false, keys: 0, messages: 1 })
  })

  it('deletes a callback that failed for good as many days after it failed', async () => {
    const { rows } = await world.database.pool.query<{ id: string }>(
      `WITH stored AS (
         INSERT INTO callbacks (organization_id, id, body)
         SELECT $1, overlay(gen_random_uuid()::text PLACING '00000000-0000' FROM 1 FOR 13)::uuid, '{}' FROM generate_series(1, 3)
         RETURNING organization_id, id
       ), numbered AS (SELECT organization_id, id, row_number() OVER (ORDER BY id) AS n FROM stored)
       INSERT INTO set_aside_callbacks (organization_id, callback_id, keys, attempts, run_at, failed_at)
       SELECT organization_id, id, '{}', 8, now(), CASE n
         WHEN 1 THEN $2::timestamptz - interval '31 days'
         WHEN 2 THEN $2 - interval '29 days'
       END
       FROM numbered
       RETURNING callback_id AS id`,
      [organization.id, world.now()],
    )
    await prune(world.app.work)
    const left = await world.database.pool.query('SELECT id FROM callbacks WHERE organization_id = $1 ORDER BY id', [
      organization.id,
    ])
    expect(left.rows).toEqual(rows.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(1))
  })

  it('goes on after a step that fails, and fails in the end, so that it is repeated', async () => {
    await receiveMessages(world, organization, textMessage(CUSTOMER, 'old'))
    await world.drain()
    world.advance(31 * DAY)
    await world.database.pool.query(
      `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
       CREATE TRIGGER refuse_delete BEFORE DELETE ON callbacks EXECUTE FUNCTION refuse()`,
    )
    try {
      await expect(prune(world.app.work)).rejects.toThrow('steps of the maintenance failed: callbacks')
    } finally {
      await world.database.pool.query('DROP TRIGGER refuse_delete ON callbacks')
    }
    const count = async (table: string) =>
      (await world.database.pool.query(`SELECT count(*)::int AS count FROM ${table}`)).rows[0].count
    expect(await count('events')).toBe(0)
    expect(await count('callbacks')).toBe(1)
    await prune(world.app.work)
    expect(await count('callbacks')).toBe(0)
  })

  it('deletes callbacks, events and deliveries of each organization after the days that it keeps them', async () => {
    const brief = await world.createOrganization({ retention_days: 2 })
    for (const one of [organization, brief]) {
      await receiveMessages(world, one, textMessage(CUSTOMER, 'keep me'))
      await insertDeliveries(0, 'delivered', 1, one)
    }
    // The rows have the time of the computer, which the clock of the tests has left behind.
    const now = world.now()
    await world.database.pool.query('UPDATE events SET created_at = $1', [now])
    await world.database.pool.query(`UPDATE callbacks SET id = overlay(id::text PLACING $1 FROM 1 FOR 13)::uuid`, [
      idBefore(now).slice(0, 13),
    ])
    const counts = async () => {
      const { rows } = await world.database.pool.query<{ id: string; counts: number[] }>(
        `SELECT o.id, ARRAY[(SELECT count(*) FROM callbacks WHERE organization_id = o.id),
           (SELECT least(count(*), 1) FROM events WHERE organization_id = o.id),
           (SELECT count(*) FROM webhook_deliveries WHERE organization_id = o.id)]::int[] AS counts
         FROM organizations o`,
      )
      const byId = new Map(rows.map((row) => [row.id, row.counts]))
      return [byId.get(organization.id), byId.get(brief.id)]
    }
    const [all, none] = [
      [1, 1, 1],
      [0, 0, 0],
    ]
    world.advance(1.9 * DAY)
    await prune(world.app.work)
    expect(await counts()).toEqual([all, all])
    world.advance(0.2 * DAY)
    await prune(world.app.work)
    expect(await counts()).toEqual([all, none])
    const longer = await world.admin('PATCH', `/organizations/${organization.id}`, { retention_days: 365 })
    expect(longer.body.organization.retention_days).toBe(365)
    world.advance(300 * DAY)
    await prune(world.app.work)
    expect(await counts()).toEqual([all, none])
    world.advance(64 * DAY)
    await prune(world.app.work)
    expect(await counts()).toEqual([none, none])
  })

  it('keeps callbacks that wait, and deletes failed ones some days after they failed', async () => {
    await post(world, organization, { messages: [textMessage(CUSTOMER, 'processed')] })
    await world.drain()
    await poison()
    await post(world, organization, { messages: [textMessage(CUSTOMER, 'poison')] })
    for (let attempt = 1; attempt <= 8; attempt++) {
      await world.drain()
      world.advance(10 * MINUTE)
    }
    await post(world, organization, { messages: [textMessage(CUSTOMER, 'waits')] })
    expect((await world.request('GET', '/metrics')).body).toMatch(/^parley_callbacks_failed 1$/m)
    world.advance(31 * DAY)
    await prune(world.app.work)
    const callbacks = await callbackRows(world)
    const texts = callbacks.map(
      ({ body }) => JSON.parse(body.toString()).entry[0].changes[0].value.messages[0].text.body,
    )
    expect(texts).toEqual(['waits'])
  })

  it('is visible in the sizes of the tables', async () => {
    const { body } = await world.request('GET', '/metrics')
    for (const table of ['callbacks', 'events', 'messages', 'webhook_deliveries', 'contacts']) {
      expect(body).toMatch(new RegExp(`^parley_table_bytes\\{table="${table}"\\} [1-9]\\d*$`, 'm'))
      expect(body).toMatch(new RegExp(`^parley_table_rows\\{table="${table}"\\} \\d+$`, 'm'))
    }
  })

  it('deletes sessions and sign-in links that have expired, and wrong passwords after a day', async () => {
    const { member } = await signIn(world, organization)
    await makeSignInLink(world, member.id)
    const body = { organization: organization.slug, email: member.email, password: 'a wrong password' }
    await world.request('POST', '/console/api/session', { body })
    const counts = async () => {
      const { rows } = await world.database.pool.query(
        `SELECT (SELECT count(*) FROM member_sessions) AS sessions, (SELECT count(*) FROM sign_in_links) AS links,
           (SELECT count(*) FROM sign_in_failures) AS failures`,
      )
      return rows[0]
    }
    for (const [days, left] of [
      [0.9, { sessions: 1, links: 1, failures: 2 }],
      [0.2, { sessions: 1, links: 0, failures: 0 }],
      [13, { sessions: 0, links: 0, failures: 0 }],
    ] as const) {
      world.advance(days * DAY)
      await prune(world.app.work)
      expect(await counts()).toEqual(left)
    }
  })

  /** Deliveries of this age. */
  const insertDeliveries = (agoMs: number, status: string, count: number, { id } = organization) => {
    const time = new Date(world.now().getTime() - agoMs)
    return world.database.pool.query(
      `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order, status)
       SELECT $1, given.id, $1, 1, $1, 'contact.created', true, $3 FROM unnest($2::uuid[]) AS given (id)`,
      [id, Array.from({ length: count }, () => idBefore(time).slice(0, 24) + newId().slice(24)), status],
    )
  }

  async function countDeliveries(): Promise<object> {
    const { rows } = await world.database.pool.query<{ status: string; count: number }>(
      'SELECT status, count(*) AS count FROM webhook_deliveries GROUP BY status',
    )
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
  }

  it('deletes deliveries after 30 days, in as many batches as it takes', async () => {
    await insertDeliveries(30 * DAY + MINUTE, 'delivered', 5_001)
    await insertDeliveries(30 * DAY + MINUTE, 'failed', 1)
    await insertDeliveries(30 * DAY - MINUTE, 'delivered', 2)
    await prune(world.app.work)
    expect(await countDeliveries()).toEqual({ delivered: 2 })
  })

  it("deletes callbacks, events, kept answers and a storefront's webhooks in batches too", async () => {
    const { pool } = world.database
    const ids = Array.from({ length: 5_001 }, () => newId())
    await pool.query(
      `INSERT INTO callbacks (organization_id, id, body) SELECT $1, given.id, '' FROM unnest($2::uuid[]) AS given (id)`,
      [organization.id, ids],
    )
    await pool.query(
      `INSERT INTO events (organization_id, id, type, data)
       SELECT $1, given.id, 'contact.updated', '{}' FROM unnest($2::uuid[]) AS given (id)`,
      [organization.id, ids],
    )
    await pool.query(
      `INSERT INTO idempotency_keys (organization_id, operation, key, body_hash, resource_id, process_id)
       SELECT $1, 'POST /x', given.id, '', given.id, 1 FROM unnest($2::uuid[]) AS given (id)`,
      [organization.id, ids],
    )
    await pool.query(
      `INSERT INTO storefront_webhooks (organization_id, id) SELECT $1, given.id FROM unnest($2::text[]) AS given (id)`,
      [organization.id, ids],
    )
    await pool.query(`
      CREATE TABLE test_deletions (table_name text, rows integer);
      CREATE FUNCTION test_note_deletion() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO test_deletions SELECT TG_TABLE_NAME, count(*) FROM gone;
        RETURN NULL;
      END $$;
      CREATE TRIGGER test_note AFTER DELETE ON callbacks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION test_note_deletion();
      CREATE TRIGGER test_note AFTER DELETE ON events REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION test_note_deletion();
      CREATE TRIGGER test_note AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION test_note_deletion();
      CREATE TRIGGER test_note AFTER DELETE ON storefront_webhooks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION test_note_deletion();
    `)
    world.advance(31 * DAY)
    await prune(world.app.work)
    const { rows } = await pool.query(
      `SELECT table_name, max(rows) AS most, sum(rows) >= 5001 AS is_all FROM test_deletions GROUP BY table_name ORDER BY table_name`,
    )
    expect(rows).toEqual(
      ['callbacks', 'events', 'idempotency_keys', 'storefront_webhooks'].map((table_name) => ({
        table_name,
        most: 5_000,
        is_all: true,
      })),
    )
    await pool.query(`
      DROP TRIGGER test_note ON callbacks; DROP TRIGGER test_note ON events; DROP TRIGGER test_note ON idempotency_keys;
      DROP TRIGGER test_note ON storefront_webhooks;
      DROP FUNCTION test_note_deletion; DROP TABLE test_deletions`)
  })

  it('keeps pending deliveries, because later ones wait for them', async () => {
    await insertDeliveries(60 * DAY, 'pending', 3)
    await insertDeliveries(40 * DAY, 'delivered', 1)
    await prune(world.app.work)
    expect(await countDeliveries()).toEqual({ pending: 3 })
  })
})
