import { setTimeout } from 'node:timers/promises'
import type { Child } from '../child.js'
import { type LoadShape, runLoad } from '../generator.js'
import { callbackLoad, type NextRequest, statusLoad } from '../loads.js'
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

/** Measures signed callbacks with one message or one status each, received and processed by the same process. */
export async function measureCallbacks(world: World, seconds: number): Promise<Row[]> {
  const service = await world.startService()
  const before = await countMessages(world)
  const messages = await measureKind(world, service, seconds, {
    id: 'callbacks',
    what: 'message',
    load: callbackLoad(world),
    countRecorded: async () => (await countMessages(world)) - before,
  })
  const { rows } = await world.database.query<{ upstream_id: string }>(prepareSent, [world.organization.id, SENT])
  await world.database.query('VACUUM (ANALYZE) messages')
  const sent = rows.map(({ upstream_id }) => upstream_id)
  const statuses = await measureKind(world, service, seconds, {
    id: 'statuses',
    what: 'status',
    load: statusLoad(world, sent.values()),
    countRecorded: async () => sent.length - (await countSent(world)),
  })
  await service.stop()
  return [...messages, ...statuses]
}

interface Kind {
  id: string
  what: string
  load: NextRequest
  countRecorded: () => Promise<number>
}

/** Measures one kind of callback with 32 connections and with one. Throws if anything posted is not recorded. */
async function measureKind(world: World, service: Child, seconds: number, kind: Kind): Promise<Row[]> {
  const { id, what, load, countRecorded } = kind
  let posted = 0
  const callbacks = {
    title: `POST /hooks/upstream, one ${what}`,
    pid: service.pid,
    run: async (shape: LoadShape) => {
      const result = await runLoad(service.url, shape, load)
      posted += result.requests
      return result
    },
    waitForBacklog: () => untilProcessed(world),
  }
  const many = await measure(world, seconds, { ...callbacks, id, connections: 32 })
  const alone = await measure(world, seconds, { ...callbacks, id: `${id}.1`, connections: 1 })
  const recorded = await countRecorded()
  if (recorded !== posted)
    throw new Error(`${posted} callbacks with one ${what} were posted, but ${recorded} are recorded`)
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

async function countSent({ database, organization }: World): Promise<number> {
  const { rows } = await database.query(
    `SELECT count(*)::int AS count FROM messages WHERE organization_id = $1 AND status = 'sent'`,
    [organization.id],
  )
  return rows[0].count
}
