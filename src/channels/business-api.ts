import type { BusinessNumber, UpstreamClient } from '../upstream/client.js'
import type { OutboundContent, OutboundMessage } from '../upstream/wire.js'
import type { Channel, ChannelMessage } from './channel.js'

/** The channel of a number at the upstream's business API. */
export function businessApiChannel(upstream: UpstreamClient, number: BusinessNumber): Channel {
  return {
    send: (message, timeoutMs) => upstream.send(number, toOutbound(message), timeoutMs),
  }
}

function toOutbound({ id, recipient, content, contextUpstreamId }: ChannelMessage): OutboundMessage {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...('phone' in recipient ? { to: recipient.phone } : { recipient: recipient.userId }),
    ...(contextUpstreamId === null ? {} : { context: { message_id: contextUpstreamId } }),
    biz_opaque_callback_data: id,
    ...toContent(content),
  }
}

function toContent(content: ChannelMessage['content']): OutboundContent {
  return { type: 'text', text: { body: content.text } }
}
