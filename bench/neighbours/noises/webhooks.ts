import { insertContacts, insertEvents, notification } from '../../event-data.js'
import type { Amounts, Noise, NoiseKind } from '../noise.js'
import { openHangingReceiver, openReceiver, type Receiver } from '../receiver.js'
import {
  countPendingDeliveries,
  createTenant,
  deleteTenant,
  type Stage,
  succeed,
  type Tenant,
  untilTrue,
} from '../stage.js'

const CONTACTS = 500
const DAY_MS = 86_400_000

/** Endpoints that do not keep up. */
export const webhookNoises: readonly NoiseKind[] = [
  {
    name: 'endpoint-hangs',
    title: 'an endpoint that never answers',
    work: null,
    start: async (stage, amounts) => startEvents(stage, amounts, await openHangingReceiver()),
  },
  {
    name: 'endpoint-fails',
    title: 'an endpoint that answers 500',
    work: null,
    start: async (stage, amounts) => startEvents(stage, amounts, await openAnswering(500)),
  },
  {
    name: 'replay',
    title: 'a replay of many deliveries',
    work: null,
    start: startReplay,
  },
]

async function startEvents(stage: Stage, { events }: Amounts, receiver: Receiver): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  await register(stage, tenant, receiver)
  await raise(stage, tenant, events)
  await stage.database.query(notification)
  return noiseOf(stage, tenant, receiver)
}

/** The webhook is registered after the events, so it gets them only by the replay. */
async function startReplay(stage: Stage, { replayed }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  await raise(stage, tenant, replayed)
  const receiver = await openAnswering(204)
  const range = { from: new Date(Date.now() - DAY_MS).toISOString(), to: new Date(Date.now() + DAY_MS).toISOString() }
  const body = { webhook_id: await register(stage, tenant, receiver), ...range }
  await succeed('POST', `${stage.url}/webhook-deliveries/replay`, { key: tenant.key, body })
  return noiseOf(stage, tenant, receiver)
}

async function register({ url }: Stage, { key }: Tenant, receiver: Receiver): Promise<string> {
  const body = { url: receiver.url, events: ['message.received'] }
  return (await succeed('POST', `${url}/set-webhooks`, { key, body })).body.webhook.id
}

async function raise({ database }: Stage, { id }: Tenant, events: number): Promise<void> {
  await database.query(insertContacts, [id, CONTACTS])
  await database.query(insertEvents, [id, events, CONTACTS])
}

async function noiseOf(stage: Stage, tenant: Tenant, receiver: Receiver): Promise<Noise> {
  await untilTrue('nothing was delivered to the endpoint', async () => receiver.received > 0)
  return {
    remaining: () => countPendingDeliveries(stage, tenant),
    stop: async () => {
      await deleteTenant(stage, tenant)
      await receiver.close()
    },
  }
}

function openAnswering(status: number): Promise<Receiver> {
  return openReceiver((response) => response.writeHead(status).end())
}
