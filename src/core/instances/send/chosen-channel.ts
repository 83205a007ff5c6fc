import type { Context } from '../../../context.js'
import { excerpt } from '../../../lib/text/text.js'
import type { ContactNumber } from '../../../model/contacts/written-number.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { MessageContent } from '../../../model/messages/content.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { findInstanceById } from '../../../storage/instances/instances.js'
import { type Channel, organizationChannel } from '../../messages/send/channel.js'
import { chooseNumber } from '../../messages/send/choose-number.js'
import type { SendCommand } from '../../messages/send/send.js'
import { checkSupport } from '../manage/capabilities.js'
import { requireInstance, requireOpen } from '../manage/find.js'
import { instanceChannel } from './instance-channel.js'

/** What decides the channel of a message. */
export interface ChannelChoice {
  /** The name of the instance that was chosen; null: none, so a business number sends. */
  instance: string | null
  /** The business number that was chosen, as it was given; null: the default. */
  from: string | null
  /** The recipient. */
  to: Pick<ContactNumber, 'forms'>
  replyTo: SendCommand['replyTo']
  content: MessageContent
}

/**
 * The channel that sends a message: the chosen instance, else the chosen number, else the default of chooseNumber.
 * Throws instance_not_found, not_supported, invalid_field, instance_not_open, and invalid_provider if the organization
 * has no number.
 */
export async function openChosenChannel(ctx: Context, tenant: Tenant, choice: ChannelChoice): Promise<Channel> {
  return choose(ctx, tenant, choice, requireOpen)
}

/** The same for a message that is sent later: the instance need not be connected now. */
export async function chooseLaterChannel(ctx: Context, tenant: Tenant, choice: ChannelChoice): Promise<Channel> {
  return choose(ctx, tenant, choice, () => undefined)
}

async function choose(
  ctx: Context,
  tenant: Tenant,
  { instance: name, from, to, replyTo, content }: ChannelChoice,
  checkState: (instance: Instance) => void,
): Promise<Channel> {
  if (name === null) {
    const openFor = await chooseNumber(ctx, tenant, { from, isTemplate: false })
    const decides = tenant.has_further_numbers && from === null
    const contact = decides ? await ctx.lookUp.contact({ organizationId: tenant.id, addresses: to.forms }) : null
    return openFor(contact, replyTo?.id)
  }
  if (from !== null) {
    throw new Problem(
      'invalid_field',
      `from "${excerpt(from)}" and instance "${excerpt(name)}" exclude each other: give one of them`,
    )
  }
  const instance = await requireInstance(ctx, tenant.id, name)
  checkSupport(instance.kind, content)
  checkState(instance)
  return instanceChannel(ctx, tenant, instance)
}

/** The channel with this id (`Channel.instanceId`), connected. Throws likewise; instance_not_found: it is deleted. */
export async function reopenChannel(ctx: Context, tenant: Tenant, instanceId: string | null): Promise<Channel> {
  if (instanceId === null) return organizationChannel(ctx, tenant)
  const instance = await findInstanceById(ctx.database, tenant.id, instanceId)
  if (instance === null) throw new Problem('instance_not_found', 'The instance that was to send the message is deleted')
  requireOpen(instance)
  return instanceChannel(ctx, tenant, instance)
}
