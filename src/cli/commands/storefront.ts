import type { Command } from 'commander'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { type SyncContext, syncOrders } from '../../core/storefront/sync.js'
import { createAddressGuard } from '../../lib/http/address-guard.js'
import { createLogger } from '../../log.js'
import type { Organization } from '../../model/organizations/organization.js'
import { createStorefrontClient } from '../../storefront/client.js'
import { CliFailure } from '../failure.js'
import type { Invocation } from '../invocation.js'
import { ORGANIZATION, withCredentials } from '../operator.js'
import { printFields } from '../output.js'

interface SyncOptions {
  org: string
  json?: boolean
}

/** `parley storefront …`: the storefronts of organizations. */
export function addStorefrontCommands(program: Command, invocation: Invocation): void {
  const storefront = program.command('storefront').description('fetch orders from storefronts')
  storefront
    .command('sync')
    .description('fetch changed orders from a storefront now; the service does so every hour')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((options) => sync(invocation, options))
}

async function sync({ env, streams }: Invocation, options: SyncOptions): Promise<void> {
  const orders = await withCredentials(env, async (operator, { allowedPrivateHosts, logLevel }) => {
    const organization = await findOrganizationByName(operator, options.org)
    const storefront = createStorefrontClient(createAddressGuard(allowedPrivateHosts))
    const ctx = { ...operator, log: createLogger(logLevel), storefront }
    return syncFor(ctx, organization).finally(() => storefront.close())
  })
  printFields(streams, { orders }, options)
}

/** Returns the number of recorded orders. */
async function syncFor(ctx: SyncContext, { id, name }: Organization): Promise<number> {
  const { orders, ...synced } = await syncOrders(ctx, id)
  switch (synced.outcome) {
    case 'done':
      return orders
    case 'not_connected':
      throw new CliFailure(1, `${name} has no storefront: connect it by parley org storefront`)
    case 'limited':
      throw new CliFailure(1, `The storefront's rate limit is reached: try again in a while (${orders} orders so far)`)
    default:
      throw new CliFailure(1, `The storefront could not be asked (${orders} orders so far): ${synced.text}`)
  }
}
