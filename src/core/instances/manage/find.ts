import type { Context, LookUps } from '../../../context.js'
import type { Database } from '../../../database/pool.js'
import { batch } from '../../../lib/async/batcher.js'
import { isStorable } from '../../../lib/text/text.js'
import type { Instance } from '../../../model/instances/instance.js'
import { Problem } from '../../../model/problem.js'
import { findInstancesByName, type InstanceLookup } from '../../../storage/instances/instances.js'

const MAX_BATCH = 500

/** Creates the look-up of this process; look-ups of the same moment share one statement. */
export function createInstanceLookup(database: Database): LookUps['instance'] {
  return batch((lookups: InstanceLookup[]) => findInstancesByName(database, lookups), MAX_BATCH)
}

/** The organization's instance of this name. Throws instance_not_found, also if another organization has it. */
export async function requireInstance(
  ctx: Pick<Context, 'lookUp'>,
  organizationId: string,
  name: string,
): Promise<Instance> {
  // A text that PostgreSQL cannot store would fail all look-ups of the statement.
  const instance = isStorable(name) ? await ctx.lookUp.instance({ organizationId, name }) : null
  if (instance === null) throw instanceNotFound(name)
  return instance
}

/** Refuses an instance that is not connected. Throws instance_not_open. */
export function requireOpen({ state }: Pick<Instance, 'state'>): void {
  if (state !== 'open') throw new Problem('instance_not_open', 'Connection Closed')
}

export function instanceNotFound(name: string): Problem {
  return new Problem('instance_not_found', `The "${name}" instance does not exist`)
}
