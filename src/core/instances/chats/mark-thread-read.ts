import { businessDevice } from '../../../channels/business-device.js'
import type { Device } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { errorMessage } from '../../../lib/text/error-message.js'
import { isGroup } from '../../../model/contacts/contact.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { findNewestRead, markThreadReadUpTo, type ReadMessage } from '../../../storage/conversations/marks.js'
import { findInstanceById } from '../../../storage/instances/instances.js'
import { requireContact } from '../../contacts/find.js'
import { openBusinessNumber, requireUpstream } from '../../organizations/business-number.js'
import { openDevice } from '../commands/device.js'
import { keyOf } from './message-key.js'

/** Maximum duration of marking messages as read at the upstream or the device. */
const TIMEOUT_MS = 5_000

/** How many messages were unread, and whether all their networks have taken the mark. */
export interface ThreadRead {
  marked: number
  isReported: boolean
}

/**
 * Marks all messages of a contact up to a number as read, here and on the channels that they came through, if these
 * support it. Throws contact_not_found.
 */
export async function markThreadRead(
  ctx: Context,
  tenant: Tenant,
  contactId: string,
  seq: number,
): Promise<ThreadRead> {
  const { last_seq } = await requireContact(ctx, tenant.id, contactId)
  const upTo = Math.min(seq, last_seq)
  const read = await ctx.database.transaction((transaction) =>
    markThreadReadUpTo(transaction, tenant.id, { contactId, seq: upTo }, ctx.clock()),
  )
  return { marked: read.length, isReported: await report(ctx, tenant, read) }
}

/**
 * Marks a contact's messages up to a number, which are read here, as read on their channels once more. Resolves to
 * whether all have taken the mark.
 */
export async function reportReadAgain(ctx: Context, tenant: Tenant, contactId: string, seq: number): Promise<boolean> {
  return report(ctx, tenant, await findNewestRead(ctx.database, tenant.id, { contactId, seq }))
}

async function report(ctx: Context, tenant: Tenant, read: readonly ReadMessage[]): Promise<boolean> {
  const channelIds = new Set(read.map(({ instance_id }) => instance_id))
  const reported = await Promise.all([...channelIds].map((target) => markReadUpstream(ctx, tenant, target, read)))
  return reported.every((isTaken) => isTaken)
}

/**
 * Resolves to whether the channel took the mark. If it cannot be reached, the messages are still marked as read here.
 */
async function markReadUpstream(
  ctx: Context,
  tenant: Tenant,
  channelId: string | null,
  read: readonly ReadMessage[],
): Promise<boolean> {
  try {
    const target = await openReadDevice(ctx, tenant, channelId)
    if (target === null) return false
    const messages = read.filter(({ instance_id, upstream_id }) => instance_id === channelId && upstream_id !== null)
    // The business API marks earlier messages with the last one.
    const acknowledged = target.takesAll ? messages : messages.slice(-1)
    if (acknowledged.length === 0) return true
    // The business API marks nothing in groups.
    if (!target.takesAll && acknowledged.some(isGroup)) return false
    const answer = await target.device({ verb: 'mark_read', keys: acknowledged.map(keyOf) }, TIMEOUT_MS)
    if (answer.outcome !== 'done') throw new Problem('upstream_rejected', answer.text)
    return true
  } catch (error) {
    const reason = errorMessage(error)
    ctx.log.info(
      { organizationId: tenant.id, instanceId: channelId, reason },
      'messages could not be marked as read on their network',
    )
    return false
  }
}

/** Null if the instance is deleted or not connected. */
async function openReadDevice(
  ctx: Context,
  tenant: Tenant,
  channelId: string | null,
): Promise<{ device: Device; takesAll: boolean } | null> {
  if (channelId === null) {
    const number = openBusinessNumber(ctx, tenant.id, requireUpstream(tenant))
    return { device: businessDevice(ctx.upstream, number), takesAll: false }
  }
  const instance = await findInstanceById(ctx.database, tenant.id, channelId)
  if (instance === null || instance.state !== 'open') return null
  return { device: openDevice(ctx, tenant, instance), takesAll: instance.kind !== 'business_api' }
}
