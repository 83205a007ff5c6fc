import type { Amounts, Noise, NoiseKind } from '../noise.js'
import { TEMPLATE } from '../quiet-work.js'
import { createTenant, deleteTenant, type Stage, succeed, type Tenant, untilTrue } from '../stage.js'

const SLOW_BROADCASTS = 50
const BLOCKED_BROADCASTS = 4
const BLOCKED_RECIPIENTS = 8
/** The upstream's code for being down; nothing was accepted. */
const DOWN = 131016

/** Broadcasts that take long because the number or the upstream accepts little or nothing. */
export const broadcastNoises: readonly NoiseKind[] = [
  {
    name: 'slow-number',
    title: '50 broadcasts on a number with 1 message per second',
    work: 'broadcast',
    start: startSlow,
  },
  {
    name: 'number-down',
    title: 'four broadcasts while the upstream accepts nothing',
    work: 'broadcast',
    start: startDown,
  },
]

async function startSlow(stage: Stage, { recipients }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy', { messages_per_second: 1 })
  await broadcast(stage, tenant, SLOW_BROADCASTS, numbers(recipients))
  await untilTrue('no broadcast was sent', async () => (await countAccepted(stage, tenant)) > 0)
  return noiseOf(stage, tenant)
}

async function startDown(stage: Stage): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  const recipients = numbers(BLOCKED_RECIPIENTS)
  for (const number of recipients) {
    await succeed('PUT', `${stage.sandboxUrl}/_sim/recipients/${number}`, { body: { code: DOWN } })
  }
  const before = await countRefused(stage)
  await broadcast(stage, tenant, BLOCKED_BROADCASTS, recipients)
  await untilTrue('nothing was refused', async () => (await countRefused(stage)) >= before + BLOCKED_RECIPIENTS)
  return noiseOf(stage, tenant)
}

async function broadcast({ url }: Stage, { key }: Tenant, count: number, recipients: readonly string[]): Promise<void> {
  await succeed('POST', `${url}/templates/sync`, { key })
  const audience = { recipients: recipients.map((chatNumber) => ({ chatNumber })) }
  for (let n = 1; n <= count; n++) {
    await succeed('POST', `${url}/broadcasts`, { key, body: { name: `Noise ${n}`, ...TEMPLATE, audience } })
  }
}

function noiseOf(stage: Stage, tenant: Tenant): Noise {
  return {
    remaining: async () => {
      const path = `${stage.url}/broadcasts?status=running`
      return (await succeed('GET', path, { key: tenant.key })).body.pagination.totalBroadcasts
    },
    stop: () => deleteTenant(stage, tenant),
  }
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `55319${70_000_000 + index * 10 + 7}`)
}

async function countAccepted({ sandboxUrl }: Stage, { phoneNumberId }: Tenant): Promise<number> {
  return (await succeed('GET', `${sandboxUrl}/_sim/messages?phone_number_id=${phoneNumberId}&limit=0`)).body.total
}

async function countRefused({ sandboxUrl }: Stage): Promise<number> {
  return (await succeed('GET', `${sandboxUrl}/_sim/messages?limit=0`)).body.refused
}
