import type { Noise, NoiseKind } from '../noise.js'
import { openHangingReceiver } from '../receiver.js'
import { askForEach, keepAsking, type Requests } from '../requests.js'
import { ask, countJobs, createTenant, deleteTenant, type Stage, type Tenant, untilTrue } from '../stage.js'

/** More than a process has places for syncs. */
const TENANTS = 5
const CHANGES = 10

/** Syncs that do not end. */
export const syncNoises: readonly NoiseKind[] = [
  { name: 'syncs', title: 'syncs of orders with a shop that hangs', work: 'sync', start: startSyncs },
]

/** Several organizations change their settings many times; each change requests a sync. */
async function startSyncs(stage: Stage): Promise<Noise> {
  const shop = await openHangingReceiver()
  const { url, adminToken: key } = stage
  const tenants = await Promise.all(Array.from({ length: TENANTS }, () => createTenant(stage, 'Noisy')))
  const connections = Array.from({ length: CHANGES }, () => tenants).flat()
  const body = { url: shop.url, access_token: 'token', webhook_secret: 'secret' }
  await askForEach(connections, TENANTS, [200], ({ id }) =>
    ask('PUT', `${url}/admin/organizations/${id}/storefront`, { key, body }),
  )
  const templates = keepAskingForTemplates(stage, tenants)
  await untilTrue('the shop got no request', async () => shop.received > 0)
  return {
    remaining: async () => {
      const counts = await Promise.all(tenants.map((tenant) => countJobs(stage, tenant, 'sync')))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    stop: async () => {
      await templates.end()
      await Promise.all(tenants.map((tenant) => deleteTenant(stage, tenant)))
      await shop.close()
    },
  }
}

function keepAskingForTemplates({ url }: Stage, tenants: readonly Tenant[]): Requests {
  let turn = 0
  return keepAsking(TENANTS, [200], () =>
    ask('POST', `${url}/templates/sync`, { key: tenants[turn++ % tenants.length]?.key }),
  )
}
