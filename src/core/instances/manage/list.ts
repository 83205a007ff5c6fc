import type { Context } from '../../../context.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import { Problem } from '../../../model/problem.js'
import { findChannelTotals } from '../../../storage/counts/channels.js'
import { countChannelContacts } from '../../../storage/instances/counts.js'
import { listInstances as listRows } from '../../../storage/instances/instances.js'

/** Selects instances; absent fields match all. */
export interface InstanceFilter {
  id?: string | undefined
  name?: string | undefined
  /** The number given at creation, or the digits of the connected number. */
  number?: string | undefined
}

/** An instance with its plain token. */
export interface ListedInstance {
  instance: Instance
  token: string
  counts: InstanceCounts
}

/** The number of all messages on an instance's channel, and of contacts among the newest of them. */
export interface InstanceCounts {
  messages: number
  contacts: number
}

/** Messages read to count the contacts of one instance, and of all listed instances together. */
const MAX_MESSAGES_READ = 10_000
const MAX_MESSAGES_READ_IN_ALL = 100_000

/**
 * The organization's instances, oldest first; with `onlyId` only that one is considered. Throws instance_not_found if a
 * given name or id matches none.
 */
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
    token: decryptToken(ctx, instance),
    counts: countsOf(instance),
  }))
}

/** The rows only. */
export function listInstanceRows({ database }: Pick<Context, 'database'>, organizationId: string): Promise<Instance[]> {
  return listRows(database, organizationId)
}

/** The plain token of an instance. Everyone who may see the instance may see it. */
export function decryptToken({ secrets }: Pick<Context, 'secrets'>, { organization_id, token }: Instance): string {
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
): Promise<(instance: Instance) => InstanceCounts> {
  const channelIds = [...new Set(instances.map(channelIdOf))]
  const limit = Math.min(MAX_MESSAGES_READ, Math.floor(MAX_MESSAGES_READ_IN_ALL / Math.max(1, channelIds.length)))
  const [messages, contacts] = await Promise.all([
    findChannelTotals(database, organizationId, channelIds),
    countChannelContacts(database, organizationId, channelIds, limit),
  ])
  return (instance) => {
    const channelId = channelIdOf(instance)
    return { messages: messages.get(channelId) ?? 0, contacts: contacts.get(channelId) ?? 0 }
  }
}
