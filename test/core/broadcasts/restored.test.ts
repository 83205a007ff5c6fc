import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { reconcileBroadcasts, startDueBroadcast } from '../../../src/core/broadcasts/reconcile.js'
import { adoptRestoredDatabase } from '../../../src/core/processes/histories.js'
import { deferRecipient } from '../../../src/storage/broadcasts/deferrals.js'
import { HOUR, MINUTE, type Shown, startBroadcastWorld } from '../../support/broadcasts.js'
import { useStarted } from '../../support/started.js'

const at = useStarted(startBroadcastWorld)

const inTime = (ms: number) => new Date(at.world.now().getTime() + ms).toISOString()
const newNumbers = (count: number) => Array.from({ length: count }, at.newNumber)
const to = (numbers: string[]) => ({ audience: { recipients: numbers.map((chatNumber) => ({ chatNumber })) } })

/** As if a standby had taken over, or the server had been restored to this moment. */
const restore = () => at.world.database.pool.query(`UPDATE event_histories SET server = 'before/' || n`)

/** The work of every minute. */
async function tend(): Promise<void> {
  await reconcileBroadcasts(at.world.app.ctx)
  await at.world.drain()
}

/** How often each of these numbers received a message. */
async function received(numbers: readonly string[]): Promise<number[]> {
  const arrived = (await at.arrived()).map(({ to }: Shown) => to)
  return numbers.map((number) => arrived.filter((one) => one === number).length)
}

const once = (numbers: readonly string[]) => numbers.map(() => 1)
const never = (numbers: readonly string[]) => numbers.map(() => 0)

async function resume(id: string): Promise<void> {
  expect(await at.act(id, 'resume')).toMatchObject({ status: 200, body: { broadcast: { reason: null } } })
  await tend()
}

describe('after a restore', () => {
  it('nothing is sent of broadcasts that run or are due, until somebody resumes them', async () => {
    const [running, due, later] = [newNumbers(3), newNumbers(3), newNumbers(1)]
    const ids = {
      running: (await at.create(to(running))).id,
      due: (await at.create({ ...to(due), scheduled_at: inTime(MINUTE) })).id,
      later: (await at.create({ ...to(later), scheduled_at: inTime(3 * HOUR) })).id,
    }
    at.world.advance(HOUR)
    await restore()
    await at.world.drain()
    await tend()
    expect(await at.read(ids.running)).toMatchObject({ status: 'paused', reason: 'restored' })
    expect(await at.read(ids.due)).toMatchObject({ status: 'paused', reason: 'restored', started_at: null })
    expect(await at.read(ids.later)).toMatchObject({ status: 'scheduled', reason: null })
    expect(await received([...running, ...due, ...later])).toEqual(never([...running, ...due, ...later]))

    const listed = await at.ask('GET', '/broadcasts?status=paused')
    expect(listed.body.broadcasts).toMatchObject([{ reason: 'restored' }, { reason: 'restored' }])
    const foreign = await at.ask('POST', '/broadcasts/{id}/resume', { id: ids.running, key: at.other.key })
    expect(foreign.status).toBe(404)

    await resume(ids.running)
    await resume(ids.due)
    expect(await received([...running, ...due])).toEqual(once([...running, ...due]))
    at.world.advance(2 * HOUR)
    await tend()
    expect(await received(later)).toEqual([1])
  })

  it('a job that is sending stops, and everybody receives the broadcast once', async () => {
    const people = newNumbers(120)
    await at.world.sim('POST', '/settings', { delay_ms: 1_000 })
    const { id } = await at.create(to(people))
    const sending = at.world.drain()
    await expect.poll(async () => (await at.arrived()).length, { timeout: 20_000 }).toBeGreaterThan(0)
    await restore()
    await sending
    await at.world.sim('POST', '/settings', { delay_ms: 0 })
    await tend()
    expect(await at.read(id)).toMatchObject({ status: 'paused', reason: 'restored' })
    const before = await received(people)
    expect(before).toContain(0)
    await resume(id)
    expect(await received(people)).toEqual(once(people))
  })

  it('a message that was put back is not sent again, and its outcome is unknown', async () => {
    const [first = '', second = ''] = newNumbers(2)
    const { id } = await at.create(to([first]))
    await at.world.drain()
    const messageId = await messageOf(id)
    const { pool } = at.world.database
    // As it was before the call: recorded, not accepted, and put back.
    await pool.query(`UPDATE messages SET outcome = 'pending', upstream_id = NULL, accepted_at = NULL WHERE id = $1`, [
      messageId,
    ])
    await pool.query(`UPDATE broadcasts SET status = 'running', completed_at = NULL WHERE id = $1`, [id])
    const note = { k: 'calls', at: 0, calls: [] } as const
    const deferred = { n: 1, messageId, instanceId: null, since: new Date(), attempts: 1, inMs: 0 }
    await deferRecipient(at.world.database, at.organization.id, id, { ...deferred, note })
    await restore()
    await tend()
    expect(await at.read(id)).toMatchObject({ status: 'paused', reason: 'restored' })
    await resume(id)
    const other = await at.create(to([second]))
    await tend()
    expect(await received([first, second])).toEqual([1, 1])
    await at.giveUp()
    expect(await at.recipients(id)).toMatchObject([{ status: 'failed', errorCode: 'outcome_unknown' }])
    expect(await at.outcomes(other.id)).toEqual(['sent'])
  })

  it('begins one history for all processes that start at once, which is logged however short the gap', async () => {
    await tend()
    const { id } = await at.create(to(newNumbers(2)))
    await restore()
    const count = async () => Number((await at.world.database.pool.query('SELECT FROM event_histories')).rowCount)
    const before = await count()
    const lines: Shown[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    await Promise.all([1, 2, 3].map(() => adoptRestoredDatabase({ ...at.world.app.ctx, log })))
    expect(await count()).toBe(before + 1)
    expect(lines.filter(({ level }) => level >= 40)).toMatchObject([
      { broadcastId: id, organizationId: at.organization.id, reason: 'restored' },
      { waitingBroadcasts: 1, msg: expect.stringContaining('restored') },
    ])
    expect((await at.act(id, 'cancel')).status).toBe(200)
  })
})

async function messageOf(id: string): Promise<string> {
  const { rows } = await at.world.database.pool.query(
    'SELECT message_id FROM broadcast_recipients WHERE broadcast_id = $1',
    [id],
  )
  return rows[0].message_id
}

describe('a scheduled broadcast that would start late', () => {
  it.each([
    ['by its job', (id: string) => startDueBroadcast(at.world.app.ctx, at.organization.id, id)],
    ['by the reconciler', () => reconcileBroadcasts(at.world.app.ctx)],
  ])('waits for somebody if it is more than six hours late (%s)', async (_, start) => {
    const people = newNumbers(2)
    const { id } = await at.create({ ...to(people), scheduled_at: inTime(MINUTE) })
    at.world.advance(MINUTE + 6 * HOUR + MINUTE)
    await start(id)
    await tend()
    expect(await at.read(id)).toMatchObject({ status: 'paused', reason: 'late', started_at: null })
    expect(await received(people)).toEqual(never(people))
    await resume(id)
    expect(await received(people)).toEqual(once(people))
  })

  it('starts if it is less late', async () => {
    const people = newNumbers(2)
    const { id } = await at.create({ ...to(people), scheduled_at: inTime(MINUTE) })
    at.world.advance(6 * HOUR)
    await tend()
    expect(await received(people)).toEqual(once(people))
    expect((await at.read(id)).reason).toBeNull()
  })
})
