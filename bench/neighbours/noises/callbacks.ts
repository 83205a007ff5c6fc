import { newId } from '../../../src/lib/bytes/id.js'
import { MEBIBYTE } from '../../../src/lib/text/units.js'
import { runLoad, runPaced } from '../../generator.js'
import { callbackOf, type NextRequest, post } from '../../loads.js'
import type { Amounts, Noise, NoiseKind } from '../noise.js'
import { keepAsking } from '../requests.js'
import { ask, createTenant, deleteTenant, postInbound, type Stage, type Tenant, untilTrue } from '../stage.js'

const JUNK_CONNECTIONS = 16
const MESSAGES_PER_CALLBACK = 100
const FLOOD_WIDTH = 4
/** Well-formed, but the signature of no body. */
const WRONG_SIGNATURE = `sha256=${'0123456789abcdef'.repeat(4)}`

/** Callbacks of strangers and of one organization. */
export const callbackNoises: readonly NoiseKind[] = [
  {
    name: 'junk',
    title: 'callbacks with malformed and wrong signatures',
    work: null,
    start: startJunk,
  },
  {
    name: 'large-junk',
    title: 'callbacks of 4 MiB with many ids and a wrong signature',
    work: null,
    start: startLargeJunk,
  },
  {
    name: 'flood',
    title: 'a flood of signed callbacks from unknown senders',
    work: null,
    start: startFlood,
  },
]

/** The callbacks name a number of the service, since strangers may know one. */
async function startJunk(stage: Stage, { junkPerSecond }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  const ending = new AbortController()
  let begun = 0
  const next = junkOf(tenant)
  const nextRequest = () => {
    begun += 1
    return next()
  }
  const shape = { connections: JUNK_CONNECTIONS, seconds: Infinity, signal: ending.signal }
  const isRefused = (status: number) => status === 401
  let isOver = false
  const load = (
    junkPerSecond === null
      ? runLoad(stage.url, shape, nextRequest, isRefused)
      : runPaced(stage.url, { ...shape, perSecond: junkPerSecond }, nextRequest, isRefused)
  ).finally(() => {
    isOver = true
  })
  load.catch(() => undefined) // it is thrown by stop
  await untilTrue('junk was not answered', async () => isOver || begun >= 10 * JUNK_CONNECTIONS)
  return {
    remaining: async () => (isOver ? 0 : JUNK_CONNECTIONS),
    stop: async () => {
      ending.abort()
      await load
      await deleteTenant(stage, tenant)
    },
  }
}

function junkOf({ phoneNumberId }: Tenant): NextRequest {
  const message = { from: '5511987650008', id: 'wamid.junk', text: 'Does it come in another color?' }
  const body = JSON.stringify(callbackOf(phoneNumberId, [message]))
  const requests = ['x', WRONG_SIGNATURE].map((value) =>
    post('/hooks/upstream', body, `x-hub-signature-256: ${value}\r\n`),
  )
  let turn = 0
  return () => requests[turn++ % requests.length] as string
}

async function startLargeJunk(stage: Stage, { largeBodies }: Amounts): Promise<Noise> {
  const entries: string[] = []
  for (let bytes = 0; bytes < 4 * MEBIBYTE - 100; bytes += entries.at(-1)?.length ?? 0) {
    entries.push(`{"id":"${entries.length}","changes":[{}]},`)
  }
  const body = Buffer.from(`{"entry":[${entries.join('').slice(0, -1)}]}`)
  const headers = { 'x-hub-signature-256': WRONG_SIGNATURE }
  const requests = keepAsking(largeBodies, [400, 401, 413], () =>
    ask('POST', `${stage.url}/hooks/upstream`, { body, headers }),
  )
  await requests.untilAnswered(largeBodies)
  return { remaining: async () => requests.inFlight, stop: requests.end }
}

async function startFlood(stage: Stage, { waitingCallbacks }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  let people = 0
  const message = () => ({ from: `55219${60_000_000 + ++people}`, id: `wamid.${newId()}`, text: 'Is it still there?' })
  const requests = keepAsking(FLOOD_WIDTH, [200], () =>
    postInbound(stage, tenant, Array.from({ length: MESSAGES_PER_CALLBACK }, message)),
  )
  const count = (upTo: string | null) => countWaiting(stage, tenant, upTo)
  await untilTrue('the flood left no backlog', async () => {
    if ((await count(null)) >= waitingCallbacks) return true
    await requests.untilAnswered(1)
    return false
  })
  const newest = newId()
  return {
    remaining: () => count(newest),
    stop: async () => {
      await requests.end()
      await deleteTenant(stage, tenant)
    },
  }
}

/** The number of waiting callbacks whose ids are smaller than `upTo`; null: of all. */
async function countWaiting({ database }: Stage, { id }: Tenant, upTo: string | null): Promise<number> {
  const { rows } = await database.query(
    'SELECT count(*)::int AS count FROM callbacks WHERE organization_id = $1 AND waiting AND ($2::uuid IS NULL OR id < $2)',
    [id, upTo],
  )
  return rows[0].count
}
