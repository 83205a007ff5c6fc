import type { Context } from '../../context.js'
import { type Instance, lineIdOf } from '../../model/instance.js'
import { Problem } from '../../model/problem.js'
import { countLines, countSharedLine, type LineCounts } from '../../storage/instance-counts.js'
import { listInstances as listRows } from '../../storage/instances.js'

/** Which instances are asked for; what is left out does not matter. */
export interface InstanceFilter {
  id?: string | undefined
  name?: string | undefined
  /** As it was given when the instance was made, or digits of the number that is connected. */
  number?: string | undefined
}

/** An instance with its token in clear. */
export interface ListedInstance {
  instance: Instance
  token: string
  counts: LineCounts
}

/** How many messages are counted for one instance, and for all that are listed together. */
const MAX_COUNTED = 10_000
const MAX_COUNTED_IN_ALL = 100_000
const NOTHING: LineCounts = { messages: 0, contacts: 0 }

/** The organization's instances, oldest first; with `onlyId`, as if there were no other. Throws instance_not_found where a name or an id is asked for that none has. */
export async function listInstances(
  ctx: Pick<Context, 'database' | 'secrets'>,
  organizationId: string,
  filter: InstanceFilter,
  onlyId?: string,
): Promise<ListedInstance[]> {
  const all = await listRows(ctx.database, organizationId)
  const open = onlyId === undefined ? all : all.filter(({ id }) => id === onlyId)
  const instances = open.filter((instance) => fits(instance, filter))
  const asked = filter.name ?? filter.id
  if (instances.length === 0 && asked !== undefined) {
    throw new Problem('instance_not_found', `Instance "${asked}" not found`)
  }
  const countsOf = await count(ctx, organizationId, instances)
  return instances.map((instance) => ({
    instance,
    token: openToken(ctx, instance),
    counts: countsOf(instance),
  }))
}

/** The token of an instance in clear; whoever may see the instance may see it. */
export function openToken({ secrets }: Pick<Context, 'secrets'>, { organization_id, token }: Instance): string {
  return secrets.open(token, `${organization_id}:instance.token`)
}

function fits(instance: Instance, { id, name, number }: InstanceFilter): boolean {
  if (id !== undefined && instance.id !== id.toLowerCase()) return false
  if (name !== undefined && instance.name !== name) return false
  return number === undefined || instance.number === number || instance.owner === number
}

async function count(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  instances: readonly Instance[],
): Promise<(instance: Instance) => LineCounts> {
  const limit = Math.min(MAX_COUNTED, Math.floor(MAX_COUNTED_IN_ALL / Math.max(1, instances.length)))
  const lines = instances.map(lineIdOf)
  const ownLines = lines.filter((line) => line !== null)
  const [own, shared] = await Promise.all([
    countLines(database, organizationId, ownLines, limit),
    lines.includes(null) ? countSharedLine(database, organizationId, limit) : NOTHING,
  ])
  return (instance) => {
    const line = lineIdOf(instance)
    return line === null ? shared : (own.get(line) ?? NOTHING)
  }
}
