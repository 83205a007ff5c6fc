import type { KnownMessage } from '../../channels/device.js'
import { toMessageId } from '../../channels/linked-device/own-id.js'
import type { Context } from '../../context.js'
import { findDeviceMessage } from '../../storage/device-messages.js'
import { keyOf } from './message-key.js'

/** A message of a linked device as its network knows it, by the network's id or by ours; null where it is not known here. */
export async function findKnownMessage(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  instanceId: string,
  networkId: string,
): Promise<KnownMessage | null> {
  const id = toMessageId(networkId)
  const message = await findDeviceMessage(ctx.database, organizationId, instanceId, { upstreamId: networkId, id })
  if (message === null) return null
  const { network, text } = message
  const key = keyOf({ ...message, upstream_id: networkId })
  return { key, message: network?.message ?? { conversation: text } }
}
