import { beforeEach, describe, expect, it } from 'vitest'
import { EVENT_KINDS } from '../../../../src/model/webhooks/webhook.js'
import { disableWebhook } from '../../../../src/storage/webhooks/health.js'
import { createContact } from '../../../support/contacts.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { deliveriesOf } from '../../../support/rows/deliveries.js'
import { eventsOf } from '../../../support/rows/events.js'
import { forgetAnswers, insertDelivery, NO_ID, setWebhook, URL_OF_NOBODY } from '../../../support/webhooks.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const other = useOrganization(world)
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const DAY = 86_400_000
const FIELDS = ['id', 'url', 'events', 'description', 'active', 'created_at', 'updated_at', 'disabled_reason']
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/

const set = (body: object, { key, headers }: { key?: string; headers?: Record<string, string> } = {}) =>
  request('POST', '/set-webhooks', { key: key ?? organization.key, body, ...(headers && { headers }) })

const list = async (key = organization.key) => (await request('GET', '/get-webhooks', { key })).body.webhooks

const remove = (body: object, key = organization.key) => request('DELETE', '/set-webhooks', { key, body })

const control = (id: string, verb: string, key = organization.key, headers: Record<string, string> = {}) =>
  request('POST', `/set-webhooks/${id}/${verb}`, { key, headers })

async function rowOf(id: string) {
  const { rows } = await world.database.pool.query('SELECT * FROM webhooks WHERE id = $1', [id])
  return rows[0]
}

const open = (sealed: Buffer) => world.app.ctx.secrets.open(sealed, `${organization.id}:webhook.secret`)

async function countFeeds(): Promise<number> {
  const { rows } = await world.database.pool.query(
    'SELECT count(*) AS count FROM webhook_feeds WHERE organization_id = $1',
    [organization.id],
  )
  return rows[0].count
}

async function readKeptAnswers(): Promise<string> {
  const { rows } = await world.database.pool.query('SELECT answer::text FROM idempotency_keys')
  return rows.map(({ answer }) => answer).join()
}

/** The state after a 410, or after days of failures. */
const disable = (id: string) =>
  world.database.pool.query(
    `UPDATE webhooks SET active = false, disabled_reason = 'it said 410', failing_since = now(), since_seq = 0
     WHERE id = $1`,
    [id],
  )

describe('POST /set-webhooks', () => {
  it('returns 201 with the webhook and its secret, which is shown once and stored encrypted', async () => {
    const events = ['message.received', 'contact.created']
    const { status, body } = await set({ url: URL_OF_NOBODY, events, description: 'the shop' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ success: true, message: expect.any(String) })
    const { secret, ...webhook } = body.webhook
    expect(Object.keys(webhook)).toEqual(FIELDS)
    expect(webhook).toMatchObject({ url: URL_OF_NOBODY, events, description: 'the shop', active: true })
    expect(webhook.disabled_reason).toBeNull()
    expect(secret).toMatch(SECRET)
    expect(await list()).toEqual([webhook])
    const row = await rowOf(webhook.id)
    expect(open(row.secret)).toBe(secret)
    expect(row.secret.toString('latin1')).not.toContain(secret)
    expect(await countFeeds()).toBe(1)
  })

  it('accepts each kind and all of them, without duplicates', async () => {
    expect((await set({ url: URL_OF_NOBODY, events: [...EVENT_KINDS, '*'] })).body.webhook.events).toHaveLength(
      EVENT_KINDS.length + 1,
    )
    const { body } = await set({ url: URL_OF_NOBODY, events: ['*', 'contact.created', '*'] })
    expect(body.webhook).toMatchObject({ events: ['*', 'contact.created'], description: null })
  })

  it('accepts a name that cannot be resolved now', async () => {
    expect((await set({ url: 'https://hooks.invalid/x', events: ['*'] })).status).toBe(201)
  })

  it.each([
    'hooks.example.com',
    '/hook',
    'ftp://example.com/hook',
    'https://user@example.com/hook',
    'https://user:pass@example.com/hook',
    'https://example.com/a b',
    ' https://example.com/',
    'https://',
    `https://example.com/${'x'.repeat(2_029)}`,
    42,
  ])('returns 400 for an invalid URL: %j', async (url) => {
    const { status, body } = await set({ url, events: ['*'] })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'Invalid field' })
    expect(body.message).toMatch(/^url /)
  })

  it.each([
    'http://10.0.0.1/hook',
    'http://192.168.1.1',
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00::1]/hook',
    'http://0x0a000001/hook',
  ])('returns 400 for a private address with the reason: %s', async (url) => {
    const { status, body } = await set({ url, events: ['*'] })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'Invalid field' })
    expect(body.message).toMatch(/^url .* private/)
    expect(await list()).toEqual([])
  })

  it('returns 400 for an unknown kind, naming it and the known ones', async () => {
    const { status, body } = await set({ url: URL_OF_NOBODY, events: ['contact.created', 'message.lost'] })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'Invalid field' })
    expect(body.message).toMatch(/events.*message\.lost.*message\.received.*webhook\.disabled/)
    expect((await set({ url: URL_OF_NOBODY, events: ['webhook.test'] })).status).toBe(400)
  })

  it.each([
    [{ events: ['*'] }, 'url'],
    [{ url: '', events: ['*'] }, 'url'],
    [{ url: URL_OF_NOBODY }, 'events'],
    [{ url: URL_OF_NOBODY, events: [] }, 'events'],
  ])('returns 400 for a missing field: %j', async (body, field) => {
    const answer = await set(body)
    expect([answer.status, answer.body.error]).toEqual([400, 'Missing required field'])
    expect(answer.body.message).toContain(field)
  })

  it.each([
    [{ events: '*' }, 'events'],
    [{ events: [7] }, 'events[0]'],
    [{ events: Array.from({ length: 51 }, () => '*') }, 'events'],
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ description: 7 }, 'description'],
  ])('returns 400 for an invalid field: %j', async (fields, field) => {
    const answer = await set({ url: URL_OF_NOBODY, events: ['*'], ...fields })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
    expect(answer.body.message).toContain(field)
  })

  it('returns 409 beyond 200, also for concurrent requests', async () => {
    await setWebhook(world, organization)
    await world.database.pool.query(
      `INSERT INTO webhooks (organization_id, id, url, events, secret)
       SELECT $1, gen_random_uuid(), 'http://x', '{*}', '' FROM generate_series(1, 198)`,
      [organization.id],
    )
    const answers = await Promise.all(Array.from({ length: 5 }, () => set({ url: URL_OF_NOBODY, events: ['*'] })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body).toMatchObject({ error: 'Too many webhooks', message: expect.stringContaining('200') })
    expect(await list()).toHaveLength(200)
    expect((await set({ url: URL_OF_NOBODY, events: ['*'] }, { key: other.key })).status).toBe(201)
  })

  describe('with an Idempotency-Key', () => {
    const body = { url: URL_OF_NOBODY, events: ['*'] }
    const headers = { 'idempotency-key': 'once' }

    it('creates one webhook for two requests, and stores its secret encrypted', async () => {
      const first = await set(body, { headers })
      const second = await set(body, { headers })
      expect(second.body).toEqual(first.body)
      expect(second.headers.get('idempotent-replayed')).toBe('true')
      expect(await list()).toHaveLength(1)
      const { secret } = first.body.webhook
      expect(await readKeptAnswers()).not.toContain(secret)
      expect(await readKeptAnswers()).not.toContain(secret.slice('whsec_'.length))
      expect((await set({ ...body, description: 'x' }, { headers })).status).toBe(422)
      const theirs = await set(body, { key: other.key, headers })
      expect(theirs.body.webhook.id).not.toBe(first.body.webhook.id)
    })

    it('finds the webhook and its secret after an attempt that left no answer', async () => {
      const first = await set(body, { headers })
      await forgetAnswers(world)
      const again = await set(body, { headers })
      expect(again.body).toEqual(first.body)
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      await forgetAnswers(world)
      await world.database.pool.query('DELETE FROM webhooks WHERE organization_id = $1', [organization.id])
      const anew = await set(body, { headers })
      expect(anew.body.webhook.id).toBe(first.body.webhook.id)
      expect(anew.headers.get('idempotent-replayed')).toBeNull()
    })
  })
})

describe('GET /get-webhooks', () => {
  it("returns 200 with the organization's own webhooks, oldest first, without secrets", async () => {
    expect(await list()).toEqual([])
    const made = [await setWebhook(world, organization), await setWebhook(world, organization)]
    await setWebhook(world, other)
    const { status, body } = await request('GET', '/get-webhooks', { key: organization.key })
    expect(status).toBe(200)
    expect(body.webhooks.map(({ id }: { id: string }) => id)).toEqual(made.map(({ id }) => id))
    expect(JSON.stringify(body)).not.toContain('whsec_')
  })
})

describe('DELETE /set-webhooks', () => {
  it('returns 200 and deletes the webhook and its deliveries, and no others', async () => {
    const { id } = await setWebhook(world, organization)
    const kept = await setWebhook(world, organization)
    await createContact(world, organization, '+5511987652000')
    await insertDelivery(world, organization, kept.id)
    await insertDelivery(world, organization, id)
    await world.database.pool.query(
      `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order, status)
       SELECT $1, gen_random_uuid(), $2, 1, gen_random_uuid(), 'contact.created', false, 'failed'
       FROM generate_series(1, 5000)`,
      [organization.id, id],
    )
    const { status, body } = await remove({ id })
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, message: expect.stringContaining(id) })
    expect(await list()).toMatchObject([{ id: kept.id }])
    await world.drain()
    const left = (await deliveriesOf(world, organization)).map(({ webhook_id }) => webhook_id)
    expect(new Set(left)).toEqual(new Set([kept.id]))
  })

  it('removes the feed with the last webhook', async () => {
    const first = await setWebhook(world, organization)
    const second = await setWebhook(world, organization)
    await remove({ id: first.id })
    expect(await countFeeds()).toBe(1)
    await remove({ id: NO_ID })
    expect(await countFeeds()).toBe(1)
    await remove({ id: second.id })
    expect(await countFeeds()).toBe(0)
  })

  it('leaves the feed to a webhook that is created at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await setWebhook(world, organization)
      const [removed, made] = await Promise.all([remove({ id }), set({ url: URL_OF_NOBODY, events: ['*'] })])
      expect([removed.status, made.status, await countFeeds()]).toEqual([200, 201, 1])
      await remove({ id: made.body.webhook.id })
    }
  })

  it("returns 404 for an unknown webhook, the second time, and for another organization's", async () => {
    const { id } = await setWebhook(world, organization)
    const theirs = await setWebhook(world, other)
    await remove({ id })
    for (const unknown of [NO_ID, id, theirs.id]) {
      const { status, body } = await remove({ id: unknown })
      expect([status, body.error]).toEqual([404, 'Webhook not found'])
      expect(body.message).toContain(unknown)
    }
    expect(await list(other.key)).toContainEqual(expect.objectContaining({ id: theirs.id }))
  })

  it.each([
    [{}, 'Missing required field'],
    [{ id: '' }, 'Missing required field'],
    [{ id: 'one' }, 'Invalid field'],
    [{ id: 7 }, 'Invalid field'],
  ])('returns 400 for %j', async (body, error) => {
    const answer = await remove(body)
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain('id')
  })
})

describe('POST /set-webhooks/{id}/rotate-secret', () => {
  it('returns 200 with a new secret, while the old one signs too for 24 hours', async () => {
    const { id, secret } = await setWebhook(world, organization)
    const before = world.now()
    const { status, body } = await control(id, 'rotate-secret')
    expect(status).toBe(200)
    expect(Object.keys(body.webhook)).toEqual([...FIELDS, 'secret'])
    expect(body.webhook.secret).toMatch(SECRET)
    expect(body.webhook.secret).not.toBe(secret)
    const row = await rowOf(id)
    expect([open(row.secret), open(row.previous_secret)]).toEqual([body.webhook.secret, secret])
    expect(row.previous_secret_until.getTime()).toBeGreaterThanOrEqual(before.getTime() + DAY)
    expect(row.previous_secret_until.getTime()).toBeLessThanOrEqual(world.now().getTime() + DAY)
  })

  it('creates one secret per Idempotency-Key, stored encrypted', async () => {
    const { id } = await setWebhook(world, organization)
    const headers = { 'idempotency-key': 'rotate' }
    const first = await control(id, 'rotate-secret', organization.key, headers)
    const second = await control(id, 'rotate-secret', organization.key, headers)
    expect(second.body).toEqual(first.body)
    expect(open((await rowOf(id)).secret)).toBe(first.body.webhook.secret)
    expect(await readKeptAnswers()).not.toContain(first.body.webhook.secret)
  })
})

describe('POST /set-webhooks/{id}/enable', () => {
  it('returns 200 and activates a disabled webhook for later events', async () => {
    const { id, updated_at } = await setWebhook(world, organization)
    await disable(id)
    expect(await list()).toMatchObject([{ active: false, disabled_reason: 'it said 410' }])
    const { status, body } = await control(id, 'enable')
    expect(status).toBe(200)
    expect(body.webhook).toMatchObject({ id, active: true, disabled_reason: null })
    expect(body.webhook.updated_at > updated_at).toBe(true)
    const row = await rowOf(id)
    expect(row.failing_since).toBeNull()
    const { rows } = await world.database.pool.query('SELECT max(seq) AS seq FROM events')
    expect(row.since_seq).toBeGreaterThan(rows[0].seq)
  })

  it('returns 200 after webhook.disabled was raised, without secrets', async () => {
    const { id } = await setWebhook(world, organization)
    await control(id, 'rotate-secret')
    await disableWebhook(world.app.ctx.database, organization.id, id, 'it said 410')
    const events = await eventsOf(world, organization)
    expect(events).toMatchObject([{ data: { webhook: { id, active: false }, reason: 'it said 410' } }])
    expect(Object.keys(events[0]?.data.webhook).filter((name) => name.includes('secret'))).toEqual([])
    expect((await control(id, 'enable')).body.webhook).toMatchObject({ id, active: true })
  })

  it('returns 200 and leaves an active webhook unchanged', async () => {
    const { id } = await setWebhook(world, organization)
    const before = await rowOf(id)
    expect((await control(id, 'enable')).body.webhook).toMatchObject({ id, active: true })
    expect(await rowOf(id)).toEqual(before)
  })
})

describe('POST /set-webhooks/{id}/test', () => {
  it('returns 200 with a delivery of webhook.test, whose event shows the webhook without its secrets', async () => {
    const { id, secret } = await setWebhook(world, organization)
    await control(id, 'rotate-secret')
    const { status, body } = await control(id, 'test')
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, message: expect.any(String) })
    expect(body.delivery).toMatchObject({ webhook_id: id, event_type: 'webhook.test', status: 'pending', attempts: [] })
    const [row] = await deliveriesOf(world, organization)
    expect(row).toMatchObject({ id: body.delivery.id, in_order: false, contact_id: null })
    const [event] = await eventsOf(world, organization)
    expect(event).toMatchObject({ id: body.delivery.event_id, seq: row?.event_seq, type: 'webhook.test' })
    const names = Object.keys(event?.data.webhook)
    expect(names).toContain('url')
    expect(names.filter((name) => name.includes('secret'))).toEqual([])
    expect(JSON.stringify(event?.data)).not.toContain(secret)
  })

  it('returns 409 if the webhook is disabled', async () => {
    const { id } = await setWebhook(world, organization)
    await disable(id)
    const { status, body } = await control(id, 'test')
    expect([status, body.error]).toEqual([409, 'Webhook disabled'])
    expect(body.message).toContain('it said 410')
    expect(await deliveriesOf(world, organization)).toEqual([])
  })

  it('creates one delivery per Idempotency-Key, even if the first request left no answer', async () => {
    const { id } = await setWebhook(world, organization)
    const headers = { 'idempotency-key': 'test' }
    const first = await control(id, 'test', organization.key, headers)
    expect((await control(id, 'test', organization.key, headers)).body).toEqual(first.body)
    await forgetAnswers(world)
    expect((await control(id, 'test', organization.key, headers)).body).toEqual(first.body)
    expect(await deliveriesOf(world, organization)).toHaveLength(1)
  })
})

describe.each(['rotate-secret', 'enable', 'test'])('POST /set-webhooks/{id}/%s', (verb) => {
  it("returns 404 for an unknown webhook, and for another organization's, which stays unchanged", async () => {
    const theirs = await setWebhook(world, other)
    await disable(theirs.id)
    const before = await rowOf(theirs.id)
    for (const id of [NO_ID, theirs.id]) {
      const { status, body } = await control(id, verb)
      expect([status, body.error]).toEqual([404, 'Webhook not found'])
      expect(body.message).toContain(id)
    }
    expect(await rowOf(theirs.id)).toEqual(before)
    expect(await deliveriesOf(world, other)).toEqual([])
  })
})

it('a key that may only read webhooks cannot change them', async () => {
  const { id } = await setWebhook(world, organization)
  const issued = await world.admin('POST', `/organizations/${organization.id}/keys`, {
    name: 'reader',
    scopes: ['webhooks:read'],
  })
  const { key } = issued.body.api_key
  expect(await list(key)).toHaveLength(1)
  expect((await remove({ id }, key)).status).toBe(403)
  expect((await control(id, 'rotate-secret', key)).status).toBe(403)
})
