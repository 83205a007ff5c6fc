import type { MessageKey } from '../../../channels/device.js'
import { type ChatAddress, isFromMe, jidOf } from '../../../model/instances/gateway-message.js'
import type { Message } from '../../../model/messages/message.js'

type NamedMessage = Pick<Message, 'id' | 'upstream_id' | 'sender_type' | 'network'> & ChatAddress

/** The key that identifies a message on the network. */
export function keyOf(message: NamedMessage): MessageKey {
  const { network, upstream_id: upstreamId, id } = message
  return {
    remoteJid: network?.remoteJid ?? jidOf(message),
    fromMe: isFromMe(message),
    id: upstreamId ?? id,
    ...(network?.participant && { participant: network.participant }),
  }
}
