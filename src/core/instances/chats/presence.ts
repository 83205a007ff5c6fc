import type { ChatPresence } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { command } from '../commands/device.js'
import { requireOpen } from '../manage/find.js'

/** Shows the number as online or offline to everyone. Throws instance_not_open, not_supported. */
export async function setInstancePresence(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  presence: ChatPresence,
): Promise<void> {
  requireOpen(instance)
  await command(ctx, tenant, instance, { verb: 'set_presence', presence })
}
