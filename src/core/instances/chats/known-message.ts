import type { KnownMessage } from '../../../channels/device.js'
import { toMessageId } from '../../../channels/linked-device/own-id.js'
import type { Context } from '../../../context.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { type DeviceMessage, findDeviceMessage } from '../../../storage/messages/device-messages.js'
import { keyOf } from './message-key.js'

/** A message of a linked device as its network knows it, by the network's id or by ours; null where it is not known here. */
export async function findKnownMessage(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  instanceId: string,
  networkId: string,
): Promise<KnownMessage | null> {
  const message = await find(ctx, organizationId, instanceId, networkId)
  if (message === null) return null
  const key = keyOf({ ...message, upstream_id: networkId })
  // Enough to be quoted by.
  return { key, message: message.network?.message ?? { conversation: message.text } }
}

/** What such a message says, to be sent once more; null where that is not known any more, or cannot be made from its text. */
export async function findContentToResend(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  instanceId: string,
  networkId: string,
): Promise<JsonObject | null> {
  const message = await find(ctx, organizationId, instanceId, networkId)
  if (message?.network?.message) return message.network.message
  return message?.message_type === 'text' && message.text ? { conversation: message.text } : null
}

function find(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  instanceId: string,
  networkId: string,
): Promise<DeviceMessage | null> {
  const id = toMessageId(networkId)
  return findDeviceMessage(database, organizationId, instanceId, { upstreamId: networkId, id })
}
