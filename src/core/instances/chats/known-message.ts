import type { KnownMessage } from '../../../channels/device.js'
import { toMessageId } from '../../../channels/linked-device/wire/own-id.js'
import type { Context } from '../../../context.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { type DeviceMessage, findDeviceMessage } from '../../../storage/messages/device-messages.js'
import { keyOf } from './message-key.js'

/** A message of a linked device in the network's form, by the network's id or ours; null if it is not stored. */
export async function findKnownMessage(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  instanceId: string,
  networkId: string,
): Promise<KnownMessage | null> {
  const message = await find(ctx, organizationId, instanceId, networkId)
  if (message === null) return null
  const key = keyOf({ ...message, upstream_id: networkId })
  // Enough to quote the message.
  return { key, message: message.network?.message ?? { conversation: message.text } }
}

/** The content of a message, to send it again; null if it is no longer stored and cannot be rebuilt from its text. */
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
