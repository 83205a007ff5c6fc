import type { Context } from '../../../context.js'
import type { MessageContent } from '../../../model/messages/content.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { type Line, organizationLine } from '../../messages/send/channel.js'
import { checkSupport } from '../manage/capabilities.js'
import { requireInstance, requireOpen } from '../manage/find.js'
import { instanceLine } from './channel.js'

/**
 * The connection that a sender chose for a message: the instance of this name, or with null the organization's own number. Throws
 * instance_not_found, not_supported, invalid_field, instance_not_open, and invalid_provider where there is no such number.
 */
export async function openChosenLine(
  ctx: Context,
  tenant: Tenant,
  name: string | null,
  content: MessageContent,
): Promise<Line> {
  if (name === null) return organizationLine(ctx, tenant)
  const instance = await requireInstance(ctx, tenant.id, name)
  checkSupport(instance.kind, content)
  requireOpen(instance)
  return instanceLine(ctx, tenant, instance)
}
