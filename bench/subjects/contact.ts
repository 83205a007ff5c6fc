import { type LoadResult, type LoadShape, runLoad } from '../generator.js'
import { contactLoad } from '../loads.js'
import { type Measurement, measure, measureAlternating, type Row } from '../measure.js'
import { findPgbench, runPgbench } from '../pgbench.js'
import type { World } from '../world.js'

/** Never reached, but counted. */
const HIGH_RATE_LIMIT = '1000000'

/** Measures `GET /contact`, and each layer between it and the bare database. */
export async function measureContact(world: World, seconds: number): Promise<Row[]> {
  const service = await world.startService()
  const baseline = await world.startBaseline(await exampleAnswer(world, service.url))
  const load = contactLoad(world)
  const constant = () => 'GET /constant HTTP/1.1\r\nhost: bench\r\n\r\n'

  const pgbench = findPgbench()
  const pgbenchRow = pgbench && {
    id: 'contact.pgbench',
    title: 'pgbench, contact by one address',
    pid: null,
    run: (shape: LoadShape) => runPgbench(pgbench, world, shape),
  }
  const statements = {
    id: 'contact.pg',
    title: 'pg alone in a loop, the same statement',
    pid: baseline.pid,
    run: (shape: LoadShape) => runStatements(baseline.url, shape),
  }
  const bareConstant = {
    id: 'contact.constant',
    title: 'bare Fastify, a constant of the same size',
    pid: baseline.pid,
    run: (shape: LoadShape) => runLoad(baseline.url, shape, constant),
  }
  const bareStatement = {
    id: 'contact.bare',
    title: 'bare Fastify with one named statement',
    pid: baseline.pid,
    run: (shape: LoadShape) => runLoad(baseline.url, shape, load),
  }
  const contact = {
    id: 'contact',
    title: 'GET /contact',
    pid: service.pid,
    run: (shape: LoadShape) => runLoad(service.url, shape, load),
  }

  const rows: Row[] = []
  if (pgbenchRow) rows.push(await measure(world, seconds, { ...pgbenchRow, connections: 32 }))
  rows.push(await measure(world, seconds, { ...statements, connections: 32 }))
  rows.push(await measure(world, seconds, { ...bareConstant, connections: 32 }))
  const compared = await measureAlternating(world, seconds, [
    [
      { ...bareStatement, connections: 32 },
      { ...contact, connections: 32 },
    ],
    [
      { ...bareStatement, id: 'contact.bare.1', connections: 1 },
      { ...contact, id: 'contact.1', connections: 1 },
    ],
  ])
  await baseline.stop()
  const limited = await measureLimited(world, seconds, { ...contact, connections: 32 })
  await service.stop()
  return [...rows, ...compared, ...limited]
}

/** Measures the cost of the rate limit: the service without one compared with one that counts. */
async function measureLimited(world: World, seconds: number, unlimited: Measurement): Promise<Row[]> {
  const service = await world.startService({ PARLEY_RATE_LIMIT: HIGH_RATE_LIMIT })
  const limited = {
    ...unlimited,
    id: 'contact.limited',
    title: 'GET /contact, rate limit on',
    pid: service.pid,
    run: (shape: LoadShape) => runLoad(service.url, shape, contactLoad(world)),
  }
  const rows = await measureAlternating(world, seconds, [[{ ...unlimited, id: 'contact.unlimited' }, limited]])
  await service.stop()
  return rows
}

async function exampleAnswer(world: World, url: string): Promise<string> {
  const [line = '', ...headers] = contactLoad(world)().split('\r\n')
  const path = line.split(' ')[1] ?? ''
  const authorization = headers.find((header) => header.startsWith('authorization: '))?.slice('authorization: '.length)
  const answer = await fetch(`${url}${path}`, { headers: { authorization: authorization ?? '' } })
  return answer.text()
}

async function runStatements(url: string, shape: LoadShape): Promise<LoadResult> {
  const answer = await fetch(`${url}/statements`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(shape),
  })
  return (await answer.json()) as LoadResult
}
