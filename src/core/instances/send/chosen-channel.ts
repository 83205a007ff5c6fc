import type { Context } from '../../../context.js'
import type { MessageContent } from '../../../model/messages/content.js'
import type { Tenant } from '../../../model/organizations/organization.js'
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
