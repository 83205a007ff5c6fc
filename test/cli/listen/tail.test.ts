import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { besideService, useFolder } from '../../support/cli.js'
import { createContact } from '../../support/contacts.js'
import { startReceiver } from '../../support/receiver.js'
import { useStarted } from '../../support/started.js'
import { setWebhook } from '../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../support/world.js'
import { type Followed, follow } from '../webhooks-support.js'

const folder = useFolder()
const receiver = useStarted(startReceiver)
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: folder.path }
})

beforeEach(async () => {
  receiver.respond(() => 204)
  organization = await world.createOrganization()
})

async function tail(...args: string[]): Promise<Followed> {
  const followed = follow(['webhooks', 'tail', '--org', organization.slug, ...args], env)
  await followed.says(/are shown as they are recorded/)
  return followed
}

async function raise(number: string, one = organization): Promise<void> {
  await createContact(world, one, number)
  await world.drain()
}

describe('webhooks tail', () => {
  it('prints each attempt as it is recorded, and none from before; Ctrl-C ends it with 0', async () => {
    await setWebhook(world, organization, { url: receiver.url })
    await raise('5511970005001')
    const followed = await tail()
    await raise('5511970005002')
    await followed.lines(1)
    receiver.respond(() => 503)
    await raise('5511970005003')
    await followed.lines(2)
    expect(await followed.end()).toBe(0)
    const start = String.raw`^\d\d:\d\d:\d\d  `
    const end = String.raw`  \d+ ms  attempt 1`
    const next = String.raw`, the next one at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`
    expect(await followed.lines(2)).toEqual([
      expect.stringMatching(`${start}delivered  contact\\.created  ${receiver.url}  204${end}$`),
      expect.stringMatching(
        `${start}retry {6}contact\\.created  ${receiver.url}  the endpoint answered 503${end}${next}`,
      ),
    ])
  })

  it('shows the number of the attempt, and whether it was the last', async () => {
    const { id } = await setWebhook(world, organization, { url: receiver.url })
    receiver.respond(() => 503)
    await raise('5511970005004')
    const followed = await tail('--json')
    receiver.respond(() => 410)
    await world.database.pool.query('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE webhook_id = $1', [id])
    await world.drain()
    const [line = ''] = await followed.lines(1)
    expect(await followed.end()).toBe(0)
    const { deliveries } = (await world.request('GET', '/webhook-deliveries', { key: organization.key })).body
    const [delivery] = deliveries
    expect(JSON.parse(line)).toEqual({
      outcome: 'failed',
      ...delivery.attempts[1],
      delivery_id: delivery.id,
      webhook_id: id,
      url: receiver.url,
      event_id: delivery.event_id,
      event_type: 'contact.created',
      attempt: 2,
      next_attempt_at: null,
    })
    expect(await followed.lines(1)).toHaveLength(1)
  })

  it('shows a single webhook on request, and nothing of another organization', async () => {
    const other = await world.createOrganization()
    await setWebhook(world, other, { url: receiver.url })
    await setWebhook(world, organization, { url: receiver.url })
    const wanted = await setWebhook(world, organization, { url: receiver.url, events: ['contact.created'] })
    const followed = await tail('--webhook', wanted.id, '--json')
    await raise('5511970005005', other)
    await raise('5511970005006')
    await raise('5511970005007')
    const lines = await followed.lines(2)
    expect(await followed.end()).toBe(0)
    expect(lines.map((line) => JSON.parse(line).webhook_id)).toEqual([wanted.id, wanted.id])
  })

  /** Stores deliveries with an attempt of this duration, recorded at this time. */
  async function recordAttempts(webhookId: string, { count, durationMs }: { count: number; durationMs: number }) {
    const recordedAt = new Date()
    const at = new Date(recordedAt.getTime() - durationMs).toISOString()
    const attempt = { at, response_status: null, error: 'no answer', duration_ms: durationMs, response_body: null }
    await world.database.pool.query(
      `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order, attempts,
         attempted_at)
       SELECT $1, gen_random_uuid(), $2, n, $1, 'contact.created', false, $3, $4 FROM generate_series(1, $5::integer) AS n`,
      [organization.id, webhookId, JSON.stringify([attempt]), recordedAt, count],
    )
  }

  it('shows slow attempts once they are recorded', async () => {
    const { id } = await setWebhook(world, organization)
    const followed = await tail('--json')
    await recordAttempts(id, { count: 1, durationMs: 15_000 })
    const [line = ''] = await followed.lines(1)
    expect(await followed.end()).toBe(0)
    expect(JSON.parse(line)).toMatchObject({ outcome: 'retry', attempt: 1, duration_ms: 15_000 })
  })

  it('shows attempts recorded at the same moment once each', async () => {
    const { id } = await setWebhook(world, organization)
    const followed = await tail('--json')
    await recordAttempts(id, { count: 2_001, durationMs: 5 })
    const lines = await followed.lines(2_001)
    expect(await followed.end()).toBe(0)
    expect(new Set(lines.map((line) => JSON.parse(line).delivery_id)).size).toBe(2_001)
    expect(lines).toHaveLength(2_001)
  })

  it('ends when its output is closed', async () => {
    const followed = await tail()
    expect(await followed.closeOutput()).toBe(0)
  })
})
