import type pg from 'pg'
import { startChild } from '../child.js'
import { cpuOf, peakMemoryOf, resetPeakMemory } from '../processes.js'
import { type Run, startServer } from '../server.js'
import { until } from '../until.js'
import {
  call,
  MAIN,
  makeFolder,
  makeOrganization,
  type Organization,
  serviceEnvironment,
  startService,
} from '../world.js'
import { untilProcessed } from './callbacks.js'

/** The costs of a broadcast. */
export interface BroadcastCost {
  title: string
  /** How many recipients per second it should reach. */
  targetPerSecond: number
  recipients: number
  /** From the request to its answer. */
  answerSeconds: number
  /** From the request until the last recipient's message is accepted. */
  sentSeconds: number
  /** From the request until every status callback is processed. */
  statusesSeconds: number
  /** Seconds of CPU in total, up to `statusesSeconds`. */
  nodeCpu: number
  postgresCpu: number
  simulatorCpu: number
  /** Peak memory of the service, in MB of 1,000,000 bytes. */
  peakMb: number
}

const POLLING = { what: 'the broadcast has not ended', pollMs: 50, timeoutMs: 30 * 60_000 }
const WARM_UP = 5_000
const TARGET_PER_SECOND = 1_000
/** A number that may send this many per second, at an upstream that answers after this time. */
const PACE = 1_000
const LATENCY_MS = 300
/** The service keeps 5 % of the pace free, and begins a new slice every 30 s. */
const PACED_PER_SECOND = 0.9 * PACE
const MAX_PACED = 60_000

const insertContacts = `
  WITH made AS (
    INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, tags, source)
    SELECT $1, uuidv7(), number, '+' || number, 'Ana Silva ' || number, ARRAY[$4], '{"type": "import"}'
    FROM (
      -- The simulator answers late if a number ends in 000004.
      SELECT CASE WHEN $5 THEN '491' || lpad(i::text, 6, '0') || '000004' ELSE (5511970000000 + i * 10 + 7)::text END AS number
      FROM generate_series($2::bigint, $3::bigint - 1) AS i
    ) numbers
    RETURNING id, chat_id, created_at
  ), active AS (
    INSERT INTO contact_activity (organization_id, contact_id, active_at) SELECT $1, id, created_at FROM made
  )
  INSERT INTO contact_addresses (organization_id, address, contact_id)
  SELECT $1, address, made.id FROM made, unnest(ARRAY[
    chat_id, CASE WHEN $5 THEN '0' || chat_id ELSE '55' || substr(chat_id, 3, 2) || substr(chat_id, 6) END
  ]) AS address`

const countOf = `
  SELECT coalesce(sum(value), 0)::int AS value FROM (
    SELECT value FROM campaign_counts WHERE organization_id = $1 AND campaign_id = $2 AND counter = $3
    UNION ALL SELECT change FROM campaign_deltas WHERE organization_id = $1 AND campaign_id = $2 AND counter = $3
  ) AS counted`

/** The sending organization, its service and its database. */
interface Setup {
  database: pg.Pool
  organization: Organization
  serviceUrl: string
}

/** How a broadcast is measured. */
interface Measured {
  title: string
  targetPerSecond: number
  recipients: number
  tag: string
  /** The simulator's settings. */
  settings: { statuses: boolean; slow_ms?: number }
  /** Of the number; 0: none. */
  messagesPerSecond: number
}

/**
 * Sends a template to this number of contacts, without and with status callbacks, and with the pace of a number at a
 * slow upstream, all on this machine.
 */
export async function measureBroadcast(run: Run, recipients: number): Promise<BroadcastCost[]> {
  const folder = await makeFolder(run)
  const { database, url, cpu: postgresCpuSoFar } = await startServer(run, folder)
  const sandbox = await startChild(run, [MAIN, 'sandbox'], {})
  const env = { ...serviceEnvironment(folder, `${sandbox.url}/v23.0`), PARLEY_DATABASE_URL: url }
  const organization = await makeOrganization(run, env)
  const paced = Math.min(recipients, MAX_PACED)
  await database.query(insertContacts, [organization.id, 0, WARM_UP, 'warm-up', false])
  await database.query(insertContacts, [organization.id, WARM_UP, WARM_UP + recipients, 'bench', false])
  await database.query(insertContacts, [organization.id, 0, paced, 'slow', true])
  await database.query('VACUUM (ANALYZE) contacts, contact_addresses, contact_activity')
  const service = await startService(run, env)
  const setup = { database, organization, serviceUrl: service.url }
  await send(setup, 'warm-up')
  await untilProcessed(setup)
  // As autovacuum does within minutes.
  await database.query('VACUUM (ANALYZE)')

  const costs: BroadcastCost[] = []
  const unpaced = { targetPerSecond: TARGET_PER_SECOND, recipients, tag: 'bench', messagesPerSecond: 0 }
  const all: Measured[] = [
    { ...unpaced, title: 'without statuses', settings: { statuses: false } },
    { ...unpaced, title: 'with three statuses each', settings: { statuses: true } },
    {
      title: `at a pace of ${PACE}/s, answered after ${LATENCY_MS} ms`,
      targetPerSecond: PACED_PER_SECOND,
      recipients: paced,
      tag: 'slow',
      settings: { statuses: false, slow_ms: LATENCY_MS },
      messagesPerSecond: PACE,
    },
  ]
  for (const { title, targetPerSecond, recipients, tag, settings, messagesPerSecond } of all) {
    await call('POST', `${sandbox.url}/_sim/settings`, { ...settings, record: false })
    await database.query('UPDATE upstream_settings SET messages_per_second = $2 WHERE organization_id = $1', [
      organization.id,
      messagesPerSecond,
    ])
    await database.query('CHECKPOINT')
    resetPeakMemory(service.pid)
    const cpu = () => [cpuOf(service.pid), postgresCpuSoFar(), cpuOf(sandbox.pid)] as const
    const before = cpu()
    const begun = performance.now()
    const { id, answerSeconds, sentSeconds } = await send(setup, tag)
    await until(async () => (await count(setup, id, 'read')) === (settings.statuses ? recipients : 0), POLLING)
    await untilProcessed(setup)
    const statusesSeconds = (performance.now() - begun) / 1000
    const [node = 0, postgres = 0, simulator = 0] = cpu().map((seconds, index) => seconds - (before[index] ?? 0))
    costs.push({
      ...{ title, targetPerSecond, recipients, answerSeconds, sentSeconds, statusesSeconds },
      ...{ nodeCpu: node, postgresCpu: postgres, simulatorCpu: simulator },
      peakMb: peakMemoryOf(service.pid),
    })
  }
  await service.stop()
  return costs
}

async function send(setup: Setup, tag: string): Promise<{ id: string; answerSeconds: number; sentSeconds: number }> {
  const begun = performance.now()
  const body = { name: tag, templateName: 'hello_world', audience: { tags: [tag] } }
  const { broadcast } = await call('POST', `${setup.serviceUrl}/broadcasts`, body, setup.organization.key)
  const answerSeconds = (performance.now() - begun) / 1000
  await until(async () => {
    const { rows } = await setup.database.query(
      'SELECT status FROM broadcasts WHERE organization_id = $1 AND id = $2',
      [setup.organization.id, broadcast.id],
    )
    return rows[0].status === 'completed'
  }, POLLING)
  const sentSeconds = (performance.now() - begun) / 1000
  const [sent, total] = [await count(setup, broadcast.id, 'sent'), await count(setup, broadcast.id, 'total')]
  if (sent !== total || sent === 0) throw new Error(`${sent} of ${total} recipients were sent to`)
  return { id: broadcast.id, answerSeconds, sentSeconds }
}

async function count({ database, organization }: Setup, campaignId: string, counter: string): Promise<number> {
  const { rows } = await database.query(countOf, [organization.id, campaignId, counter])
  return rows[0].value
}
