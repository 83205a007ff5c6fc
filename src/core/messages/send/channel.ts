import { businessApiDriver } from '../../../channels/business-api.js'
import type { ChannelDriver } from '../../../channels/driver.js'
import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { RateLimitedNumber } from '../../../model/messages/send-rate.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { rateOf } from '../../../model/organizations/rate.js'
import type { Restriction } from '../../../model/organizations/restriction.js'
import type { BusinessNumber } from '../../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from '../../organizations/business-number.js'
import { openInstanceNumber } from '../../organizations/instance-number.js'

/** What messages are sent through, with its limits. */
export interface Channel {
  /** The instance; null: the organization's own number at the upstream. */
  instanceId: string | null
  driver: ChannelDriver
  number: RateLimitedNumber
  /** Whether the upstream's limit per recipient applies. */
  pairLimit: boolean
  /** What the upstream refuses to send through it; null: nothing is known. */
  restrictions: readonly Restriction[] | null
  /** Whether it addresses chats by JIDs (…@lid, …@g.us), as the network of linked devices does. */
  usesJids: boolean
}

/** Part of the number's rate that is used. It is below 1 because messages do not all take the same time to arrive. */
const RATE_SHARE = 0.95

/** The organization's own number. Throws invalid_provider if it has none. */
export function organizationChannel(ctx: Context, tenant: Tenant): Channel {
  const upstream = requireUpstream(tenant)
  return businessChannel(ctx, null, openBusinessNumber(ctx, tenant.id, upstream), {
    messagesPerSecond: rateOf(upstream),
    pairLimit: upstream.pair_limit,
    restrictions: upstream.restrictions,
  })
}

/** The number of a business instance, which is further to the organization's own. */
export function furtherChannel(ctx: Context, tenant: Tenant, instance: Instance): Channel {
  return businessChannel(ctx, instance.id, openInstanceNumber(ctx, tenant, instance), {
    messagesPerSecond: rateOf(instance),
    pairLimit: true,
    restrictions: instance.restrictions,
  })
}

function businessChannel(
  ctx: Context,
  instanceId: string | null,
  number: BusinessNumber,
  { messagesPerSecond, ...limits }: Pick<Channel, 'pairLimit' | 'restrictions'> & { messagesPerSecond: number },
): Channel {
  return {
    instanceId,
    driver: businessApiDriver(ctx.upstream, number),
    number: { phoneNumberId: number.phoneNumberId, messagesPerSecond: messagesPerSecond * RATE_SHARE },
    ...limits,
    usesJids: false,
  }
}
