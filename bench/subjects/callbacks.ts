import { setTimeout } from 'node:timers/promises'
import type { Child } from '../child.js'
import { type LoadShape, runLoad } from '../generator.js'
import { callbackLoad, statusLoad } from '../loads.js'
import { measure, type Row } from '../measure.js'
import type { World } from '../world.js'

const POLL_MS = 50
/** More messages than statuses can be posted. */
const SENT = 200_000
/** Longer than any expected backlog. */
const BACKLOG_TIMEOUT_MS = 600_000

const prepareSent = `
  UPDATE messages SET status = 'sent', delivered_at = NULL, read_at = NULL
  WHERE organization_id = $1 AND id IN (
    SELECT id FROM messages WHERE organization_id = $1 AND status = 'read' AND upstream_id IS NOT NULL
    ORDER BY hashtext(id::text)
    LIMIT $2
  )
  RETURNING upstream_id`

/** Measures signed callbacks with one message each, received and processed by the same process. */
export async function measureCallbacks(world: World, seconds: number): Promise<Row[]> {
  const service = await world.startService()
  const load = callbackLoad(world)
  let posted = 0
  const callbacks = {
    title: 'POST /hooks/upstream, one message',
    pid: service.pid,
    run: async (shape: LoadShape) => {
      const result = await runLoad(service.url, shape, load)
      posted += result.requests
      return result
    },
    waitForBacklog: () => untilProcessed(world),
  }
  const before = await countMessages(world)
  const many = await measure(world, seconds, { ...callbacks, id: 'callbacks', connections: 32 })
  const alone = await measure(world, seconds, { ...callbacks, id: 'callbacks.1', connections: 1 })
  const recorded = (await countMessages(world)) - before
  if (recorded !== posted) throw new Error(`${posted} messages were posted, but ${recorded} are recorded`)
  const statuses = await measureStatuses(world, service, seconds)
  await service.stop()
  return [many, alone, ...statuses]
}

/** The same with one status each, of messages that were sent. */
async function measureStatuses(world: World, service: Child, seconds: number): Promise<Row[]> {
  const { rows } = await world.database.query<{ upstream_id: string }>(prepareSent, [world.organization.id, SENT])
  await world.database.query('VACUUM (ANALYZE) messages')
  const load = statusLoad(world, rows.map(({ upstream_id }) => upstream_id).values())
  let posted = 0
  const statuses = {
    title: 'POST /hooks/upstream, one status',
    pid: service.pid,
    run: async (shape: LoadShape) => {
      const result = await runLoad(service.url, shape, load)
      posted += result.requests
      return result
    },
    waitForBacklog: () => untilProcessed(world),
  }
  const many = await measure(world, seconds, { ...statuses, id: 'statuses', connections: 32 })
  const alone = await measure(world, seconds, { ...statuses, id: 'statuses.1', connections: 1 })
  const left = await world.database.query(`SELECT FROM messages WHERE organization_id = $1 AND status = 'sent'`, [
    world.organization.id,
  ])
  const recorded = rows.length - (left.rowCount ?? 0)
  if (recorded !== posted) throw new Error(`${posted} statuses were posted, but ${recorded} are recorded`)
  return [many, alone]
}

/** Resolves when all callbacks are processed. Throws if that takes too long. */
export async function untilProcessed({ database }: Pick<World, 'database'>): Promise<void> {
  const deadline = Date.now() + BACKLOG_TIMEOUT_MS
  while (Date.now() < deadline) {
    const { rows } = await database.query('SELECT EXISTS (SELECT FROM callbacks WHERE waiting) AS busy')
    if (!rows[0].busy) return
    await setTimeout(POLL_MS)
  }
  throw new Error(`callbacks are still not processed after ${BACKLOG_TIMEOUT_MS / 1000} s`)
}

async function countMessages({ database, organization }: World): Promise<number> {
  const { rows } = await database.query('SELECT sum(last_seq)::int AS count FROM contacts WHERE organization_id = $1', [
    organization.id,
  ])
  return rows[0].count
}
