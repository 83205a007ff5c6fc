import { businessApiChannel } from '../../../channels/business-api.js'
import type { Channel } from '../../../channels/channel.js'
import type { Context } from '../../../context.js'
import type { PacedNumber } from '../../../model/messages/send-rate.js'
import type { Tenant, UpstreamSettings } from '../../../model/organizations/organization.js'
import type { BusinessNumber } from '../../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from '../../organizations/business-number.js'

/** A connection that messages leave by, with the pace that they keep on it. */
export interface Line {
  /** The instance whose connection it is; null: the organization's own number at the upstream. */
  instanceId: string | null
  channel: Channel
  number: PacedNumber
  /** Whether the upstream's pace for one recipient is to be kept. */
  pairLimit: boolean
  /** Whether it calls chats as a device's network does: …@lid, …@g.us. */
  namesChats: boolean
}

/** The share of the upstream's rate that is used: not every message takes the same time on its way there. */
const USED_RATE = 0.95

/** The organization's own number. Throws invalid_provider where it has none. */
export function organizationLine(ctx: Context, tenant: Tenant): Line {
  const upstream = requireUpstream(tenant)
  return businessLine(ctx, null, openBusinessNumber(ctx, tenant.id, upstream), upstream)
}

/** A number at the upstream. */
export function businessLine(
  ctx: Context,
  instanceId: string | null,
  number: BusinessNumber,
  { messages_per_second, pair_limit }: Pick<UpstreamSettings, 'messages_per_second' | 'pair_limit'>,
): Line {
  return {
    instanceId,
    channel: businessApiChannel(ctx.upstream, number),
    number: { phoneNumberId: number.phoneNumberId, messagesPerSecond: messages_per_second * USED_RATE },
    pairLimit: pair_limit,
    namesChats: false,
  }
}
