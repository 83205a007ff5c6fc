import { businessApiDriver } from '../../../channels/business-api.js'
import type { ChannelDriver } from '../../../channels/driver.js'
import type { Context } from '../../../context.js'
import type { RateLimitedNumber } from '../../../model/messages/send-rate.js'
import type { Tenant, UpstreamSettings } from '../../../model/organizations/organization.js'
import type { BusinessNumber } from '../../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from '../../organizations/business-number.js'

/** A connection that messages leave by, with the pace that they keep on it. */
export interface Channel {
  /** The instance whose connection it is; null: the organization's own number at the upstream. */
  instanceId: string | null
  driver: ChannelDriver
  number: RateLimitedNumber
  /** Whether the upstream's pace for one recipient is to be kept. */
  pairLimit: boolean
  /** Whether it calls chats as a device's network does: …@lid, …@g.us. */
  usesJids: boolean
}

/** The share of the upstream's rate that is used: not every message takes the same time on its way there. */
const USED_RATE = 0.95

/** The organization's own number. Throws invalid_provider where it has none. */
export function organizationChannel(ctx: Context, tenant: Tenant): Channel {
  const upstream = requireUpstream(tenant)
  return businessChannel(ctx, null, openBusinessNumber(ctx, tenant.id, upstream), upstream)
}

/** A number at the upstream. */
export function businessChannel(
  ctx: Context,
  instanceId: string | null,
  number: BusinessNumber,
  { messages_per_second, pair_limit }: Pick<UpstreamSettings, 'messages_per_second' | 'pair_limit'>,
): Channel {
  return {
    instanceId,
    driver: businessApiDriver(ctx.upstream, number),
    number: { phoneNumberId: number.phoneNumberId, messagesPerSecond: messages_per_second * USED_RATE },
    pairLimit: pair_limit,
    usesJids: false,
  }
}
