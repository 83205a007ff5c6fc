import type { Channel, ChannelMessage, ChannelOutcome } from '../../../channels/channel.js'
import type { Device, DeviceAnswer, Sent } from '../../../channels/device.js'
import { sandboxChannel } from '../../../channels/sandbox.js'
import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { NetworkDetails } from '../../../model/messages/message.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { businessLine, type Line, organizationLine } from '../../messages/send/channel.js'
import { findKnownMessage } from '../chats/known-message.js'
import { openInstanceNumber } from '../manage/number.js'

/** The upstream's own pace, for numbers that nobody gave another one. */
const UPSTREAM_PACE = { messages_per_second: 80, pair_limit: true }

/** The connection of an instance. Throws invalid_provider where it is the organization's number, and there is none. */
export function instanceLine(ctx: Context, tenant: Tenant, instance: Instance): Line {
  if (instance.kind === 'linked_device') return deviceLine(ctx, instance)
  if (instance.phone_number_id === null) return organizationLine(ctx, tenant)
  const number = openInstanceNumber(ctx, tenant, instance)
  if (instance.kind === 'business_api') return businessLine(ctx, instance.id, number, UPSTREAM_PACE)
  return unpacedLine(instance, sandboxChannel(ctx.upstream, number))
}

function unpacedLine({ id: instanceId }: Instance, channel: Channel): Line {
  return {
    instanceId,
    channel,
    number: { phoneNumberId: instanceId, messagesPerSecond: 0 },
    pairLimit: false,
    namesChats: true,
  }
}

/** Files stay with us until the process that has the device connected sends them. */
function deviceLine(ctx: Context, instance: Instance): Line {
  const device = ctx.devices(instance)
  return unpacedLine(instance, {
    upload: async ({ id }) => ({ outcome: 'uploaded', mediaId: id }),
    send: (message, timeoutMs) => sendByDevice(ctx, instance, device, message, timeoutMs),
  })
}

async function sendByDevice(
  ctx: Context,
  { organization_id, id }: Instance,
  device: Device,
  message: ChannelMessage,
  timeoutMs: number,
): Promise<ChannelOutcome> {
  const { aboutUpstreamId } = message
  try {
    const about = aboutUpstreamId && (await findKnownMessage(ctx, organization_id, id, aboutUpstreamId))
    return toOutcome(await device({ verb: 'send', message, about: about || null }, timeoutMs))
  } catch (error) {
    // Only the look at the database can fail: nothing has been sent.
    ctx.log.warn({ err: error, instance: id }, 'the message that is answered could not be looked for')
    return notOpen('what the message answers could not be looked for')
  }
}

function toOutcome(answer: DeviceAnswer): ChannelOutcome {
  const { outcome } = answer
  switch (outcome) {
    case 'done':
      return toAcceptance(answer.value as Sent)
    case 'unknown':
      return { outcome, text: answer.text }
    case 'not_open':
      return notOpen(answer.text)
    case 'unsupported':
    case 'refused': {
      const code = outcome === 'refused' ? (answer.code ?? 400) : 501
      return { outcome: 'refused', because: 'message', code, text: answer.text }
    }
  }
}

function notOpen(text: string): ChannelOutcome {
  return { outcome: 'not_accepted', limit: null, code: null, text, retryAfterMs: null, mayRetry: false }
}

function toAcceptance({ key, message }: Sent): ChannelOutcome {
  const { remoteJid, participant } = key
  const network: NetworkDetails = { remoteJid, ...(participant && { participant }), ...(message && { message }) }
  const answer = { key: { ...key } }
  return { outcome: 'accepted', upstreamId: key.id, waId: null, answer, network }
}
