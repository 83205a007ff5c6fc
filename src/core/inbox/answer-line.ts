import type { Context } from '../../context.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { AnswerLine } from '../../model/conversations/inbox.js'
import { type Instance, lineIdOf } from '../../model/instances/instance.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { findInboundLine } from '../../storage/conversations/inbox.js'
import { findInstanceById, listInstances } from '../../storage/instances/instances.js'

const NONE: AnswerLine = { instance: null, kind: null, has_window: false, is_ready: false }
const ORGANIZATION: AnswerLine = { instance: null, kind: 'business_api', has_window: true, is_ready: true }

/**
 * The connection by which an answer to a contact leaves: that by which the contact wrote last, else the organization's number, else
 * the first instance that is open.
 */
export async function findAnswerLine(
  { database }: Pick<Context, 'database'>,
  tenant: Tenant,
  contact: Contact,
): Promise<AnswerLine> {
  const inbound = await findInboundLine(database, contact)
  if (inbound) {
    const instance = await findInstanceById(database, tenant.id, inbound)
    if (instance) return lineOf(instance)
  }
  if (tenant.provider === 'upstream' && tenant.upstream) return ORGANIZATION
  const instances = await listInstances(database, tenant.id)
  // One that stands for the organization's number is of no use without it.
  const open = instances.find((instance) => instance.state === 'open' && lineIdOf(instance) !== null)
  return open ? lineOf(open) : NONE
}

function lineOf({ name, kind, state }: Instance): AnswerLine {
  return { instance: name, kind, has_window: kind === 'business_api', is_ready: state === 'open' }
}
