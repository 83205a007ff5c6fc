import type { DeviceAnswer, Sent } from '../../../channels/device.js'
import type { ChannelDriver, DriverMessage, DriverOutcome } from '../../../channels/driver.js'
import { sandboxDriver } from '../../../channels/sandbox.js'
import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { NetworkDetails } from '../../../model/messages/message.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { type Channel, furtherChannel, organizationChannel } from '../../messages/send/channel.js'
import { openInstanceNumber } from '../../organizations/instance-number.js'
import { findKnownMessage } from '../chats/known-message.js'

/** The channel of an instance. Throws invalid_provider if it uses the organization's number and there is none. */
export function instanceChannel(ctx: Context, tenant: Tenant, instance: Instance): Channel {
  if (instance.kind === 'linked_device') return deviceChannel(ctx, instance)
  if (instance.phone_number_id === null) return organizationChannel(ctx, tenant)
  if (instance.kind === 'business_api') return furtherChannel(ctx, tenant, instance)
  return unlimitedChannel(instance, sandboxDriver(ctx.upstream, openInstanceNumber(ctx, tenant, instance)))
}

function unlimitedChannel({ id: instanceId }: Instance, driver: ChannelDriver): Channel {
  return {
    instanceId,
    driver,
    number: { phoneNumberId: instanceId, messagesPerSecond: 0 },
    pairLimit: false,
    restrictions: null,
    usesJids: true,
  }
}

/** Files stay in the blob store until the process that runs the device sends them. */
function deviceChannel(ctx: Context, instance: Instance): Channel {
  return unlimitedChannel(instance, {
    upload: async ({ id }) => ({ outcome: 'uploaded', mediaId: id }),
    send: (message, timeoutMs) => sendByDevice(ctx, instance, message, timeoutMs),
  })
}

async function sendByDevice(
  ctx: Context,
  instance: Instance,
  message: DriverMessage,
  timeoutMs: number,
): Promise<DriverOutcome> {
  const { organization_id, id } = instance
  const { replyToUpstreamId } = message
  try {
    const replyTo = replyToUpstreamId && (await findKnownMessage(ctx, organization_id, id, replyToUpstreamId))
    return toOutcome(await ctx.devices(instance)({ verb: 'send', message, replyTo: replyTo || null }, timeoutMs))
  } catch (error) {
    // Only the database look-up can fail here, so nothing was sent.
    ctx.log.warn({ err: error, instance: id }, 'the quoted message could not be read')
    return notOpen('the quoted message could not be read')
  }
}

function toOutcome(answer: DeviceAnswer): DriverOutcome {
  const { outcome } = answer
  switch (outcome) {
    case 'done':
      return toAcceptance(answer.value as Sent)
    case 'unknown':
      return { outcome, text: answer.text }
    case 'not_open':
    case 'failed':
      return notOpen(answer.text)
    case 'unsupported':
    case 'refused': {
      const code = outcome === 'refused' ? (answer.code ?? 400) : 501
      return { outcome: 'refused', because: 'message', code, text: answer.text }
    }
  }
}

function notOpen(text: string): DriverOutcome {
  return { outcome: 'not_accepted', limit: null, code: null, text, retryAfterMs: null, mayRetry: false }
}

function toAcceptance({ key, message }: Sent): DriverOutcome {
  const { remoteJid, participant } = key
  const network: NetworkDetails = { remoteJid, ...(participant && { participant }), ...(message && { message }) }
  const answer = { key: { ...key } }
  return { outcome: 'accepted', upstreamId: key.id, waId: null, answer, network }
}
