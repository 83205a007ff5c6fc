import type { Context } from '../../context.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { ReplyChannel, ReplyNumber } from '../../model/conversations/inbox.js'
import { channelIdOf, type Instance } from '../../model/instances/instance.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { digitsOfNumber } from '../../model/organizations/own-number.js'
import { findInboundChannel, findInboundTimes } from '../../storage/inbox/inbox.js'
import { findInstanceById, listInstances } from '../../storage/instances/instances.js'
import { listNumbers } from '../organizations/numbers.js'

const NONE: ReplyChannel = { instance: null, kind: null, has_window: false, is_ready: false }
const ORGANIZATION: ReplyChannel = { instance: null, kind: 'business_api', has_window: true, is_ready: true }

/**
 * The channel for answers to a contact: the one that the contact wrote to last, else the organization's number, else
 * the first open instance.
 */
export async function findReplyChannel(
  { database }: Pick<Context, 'database'>,
  tenant: Tenant,
  contact: Contact,
): Promise<ReplyChannel> {
  const inbound = await findInboundChannel(database, contact)
  if (inbound) {
    const instance = await findInstanceById(database, tenant.id, inbound)
    if (instance) return channelOf(instance)
  }
  if (tenant.provider === 'upstream' && tenant.upstream) return ORGANIZATION
  const instances = await listInstances(database, tenant.id)
  // An instance that stands for the organization's number is of no use if there is none.
  const open = instances.find((instance) => instance.state === 'open' && channelIdOf(instance) !== null)
  return open ? channelOf(open) : NONE
}

/** The business numbers that may answer a contact, the first one first; none if the organization has only one. */
export async function findReplyNumbers(
  { database }: Pick<Context, 'database'>,
  tenant: Tenant,
  contact: Contact,
): Promise<ReplyNumber[]> {
  if (!tenant.has_further_numbers) return []
  const [numbers, inbound] = await Promise.all([listNumbers({ database }, tenant), findInboundTimes(database, contact)])
  return numbers.map((number) => {
    const { instance_id, instance_name: instance, phone_number_id: from } = number
    const digits = digitsOfNumber(number)
    const label = number.facts.display_phone_number ?? (digits === null ? (instance ?? from) : `+${digits}`)
    const last_inbound_at = inbound.get(instance_id)?.toISOString() ?? null
    return { instance, kind: 'business_api', has_window: true, is_ready: true, from, label, last_inbound_at }
  })
}

function channelOf({ name, kind, state }: Instance): ReplyChannel {
  return { instance: name, kind, has_window: kind === 'business_api', is_ready: state === 'open' }
}
