import type { Context } from '../../context.js'
import type { Instance } from '../../model/instance.js'
import { changeInstanceSettings } from '../../storage/instances.js'
import { instanceNotFound } from './find.js'

/**
 * Sets those settings of an instance that are given, and resolves to all that it has then. A linked device acts on them from the next
 * renewal of its lease. Throws instance_not_found.
 */
export async function setInstanceSettings(
  ctx: Pick<Context, 'database'>,
  { organization_id: organizationId, id, name }: Instance,
  settings: Instance['settings'],
): Promise<Instance['settings']> {
  const all = await changeInstanceSettings(ctx.database, organizationId, id, settings)
  if (all === null) throw instanceNotFound(name)
  return all
}
