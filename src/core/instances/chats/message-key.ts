import type { MessageKey } from '../../../channels/device.js'
import { type ChatAddress, isFromMe, jidOf } from '../../../model/instances/gateway-message.js'
import type { Message } from '../../../model/messages/message.js'

/** What a message is named by. */
type NamedMessage = Pick<Message, 'id' | 'upstream_id' | 'sender_type' | 'network'> & ChatAddress

/** A message as the network names it. */
export function keyOf(message: NamedMessage): MessageKey {
  const { network, upstream_id: upstreamId, id } = message
  return {
    remoteJid: network?.remoteJid ?? jidOf(message),
    fromMe: isFromMe(message),
    id: upstreamId ?? id,
    ...(network?.participant && { participant: network.participant }),
  }
}
