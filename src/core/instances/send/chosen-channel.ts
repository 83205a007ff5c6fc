import type { Context } from '../../../context.js'
import type { MessageContent } from '../../../model/messages/content.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { findInstanceById } from '../../../storage/instances/instances.js'
import { type Channel, organizationChannel } from '../../messages/send/channel.js'
import { checkSupport } from '../manage/capabilities.js'
import { requireInstance, requireOpen } from '../manage/find.js'
import { instanceChannel } from './instance-channel.js'

/**
 * The channel that the sender chose: the instance of this name, or with null the organization's own number. Throws
 * instance_not_found, not_supported, invalid_field, instance_not_open, and invalid_provider if the organization has no
 * number.
 */
export async function openChosenChannel(
  ctx: Context,
  tenant: Tenant,
  name: string | null,
  content: MessageContent,
): Promise<Channel> {
  if (name === null) return organizationChannel(ctx, tenant)
  const instance = await requireInstance(ctx, tenant.id, name)
  checkSupport(instance.kind, content)
  requireOpen(instance)
  return instanceChannel(ctx, tenant, instance)
}

/** The same for a message that is sent later: the instance need not be connected now. */
export async function chooseLaterChannel(
  ctx: Context,
  tenant: Tenant,
  name: string | null,
  content: MessageContent,
): Promise<Channel> {
  if (name === null) return organizationChannel(ctx, tenant)
  const instance = await requireInstance(ctx, tenant.id, name)
  checkSupport(instance.kind, content)
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
