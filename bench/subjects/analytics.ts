import { openDatabase } from '../../src/database/pool.js'
import { findCampaignDrift } from '../../src/storage/analytics/analytics.js'
import { addOneOffs, DAYS, fillAnalytics } from '../analytics-data.js'
import { runLoad } from '../generator.js'
import { get } from '../loads.js'
import { type Measurement, measure, type Row } from '../measure.js'
import { FILLING, NO_UPSTREAM } from '../scale-world.js'
import { type Run, startServer } from '../server.js'
import { makeFolder, makeOrganization, serviceEnvironment, startService } from '../world.js'

/** The costs of analytics. */
export interface Analytics {
  fillSeconds: number
  gigabytes: number
  rows: Row[]
  /** Seconds to recount the large broadcast's recipients. */
  verifySeconds: number
}

const DAY_MS = 86_400_000

/** Fills a database with a year of broadcasts and requests their analytics over HTTP. */
export async function measureAnalytics(run: Run, seconds: number): Promise<Analytics> {
  const folder = await makeFolder(run)
  const filling = await startServer(run, folder, FILLING)
  const env = {
    ...serviceEnvironment(folder, NO_UPSTREAM),
    PARLEY_DATABASE_URL: filling.url,
  }
  const organization = await makeOrganization(run, env)
  const startedAt = performance.now()
  const broadcastId = await fillAnalytics(filling.database, organization.id)
  const fillSeconds = (performance.now() - startedAt) / 1000
  await filling.stop()

  const server = await startServer(run, folder)
  const { database, url } = server
  const service = await startService(run, env)
  const { rows: sizes } = await database.query('SELECT pg_database_size(current_database())::float8 / 1e9 AS gigabytes')

  const ask = ({ id, title, query, connections }: Question): Promise<Row> => {
    const request = get(`/broadcast-analytics?${new URLSearchParams(query)}`, organization.key)
    const load: Measurement = {
      ...{ id, title, connections, pid: service.pid },
      run: (shape) => runLoad(service.url, shape, () => request),
    }
    return measure(server, seconds, load)
  }
  const rows: Row[] = []
  for (const question of questionsTo(broadcastId)) rows.push(await ask(question))
  await addOneOffs(database, organization.id)
  rows.push(await ask(withOneOffs))
  const verifySeconds = await timeRecount(url, organization.id, broadcastId)
  return { fillSeconds, gigabytes: sizes[0].gigabytes, rows, verifySeconds }
}

interface Question {
  id: string
  title: string
  query: Record<string, string>
  connections: number
}

/** Measured after the one-off sends have been added. */
const withOneOffs: Question = {
  id: 'year.one-offs',
  title: 'all of a year, with one-off sends',
  query: lastDays(DAYS),
  connections: 1,
}

function questionsTo(broadcast_id: string): Question[] {
  const one = { title: 'broadcast of 1,000,000', query: { broadcast_id } }
  const year = { title: 'all of a year', query: lastDays(DAYS) }
  return [
    { ...one, id: 'one', connections: 1 },
    { ...one, id: 'one.8', connections: 8 },
    { ...year, id: 'year', connections: 1 },
    { ...year, id: 'year.8', connections: 8 },
    { id: 'month', title: 'all of 30 days', query: lastDays(30), connections: 1 },
    { id: 'day', title: 'all of today', query: lastDays(1), connections: 1 },
  ]
}

/** Dates in the organization's time zone, São Paulo, which is 3 hours behind UTC all year. */
function lastDays(days: number): Record<string, string> {
  const now = Date.now() - DAY_MS / 8
  const dateAt = (time: number) => new Date(time).toISOString().slice(0, 10)
  return { start_date: dateAt(now - (days - 1) * DAY_MS), end_date: dateAt(now) }
}

/** Throws if a counter is wrong, because the data is then not as intended. */
async function timeRecount(connectionString: string, organizationId: string, broadcastId: string): Promise<number> {
  const database = openDatabase({ connectionString }, 1, () => undefined)
  try {
    const startedAt = performance.now()
    const drifts = await findCampaignDrift(database, organizationId, broadcastId)
    if (drifts.length > 0) throw new Error(`the data is not as expected: ${JSON.stringify(drifts)}`)
    return (performance.now() - startedAt) / 1000
  } finally {
    await database.close()
  }
}
