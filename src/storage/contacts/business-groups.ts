import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { BusinessGroup } from '../../model/contacts/business-group.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { normalizeName } from './contacts.js'

/** A group with its name. */
export interface NamedGroup {
  business_group: BusinessGroup | null
  full_name: string | null
}

const lock = statement<NamedGroup>(
  'businessGroups.lock',
  `SELECT business_group, full_name FROM contacts
   WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 FOR NO KEY UPDATE`,
)

const findReport = statement<{ is_reported: boolean }>(
  'businessGroups.findReport',
  `SELECT EXISTS (
     SELECT FROM messages
     WHERE organization_id = $1 AND upstream_id = $2 AND instance_id IS NOT DISTINCT FROM $3::uuid
   ) AS is_reported`,
)

const change = statement<never>(
  'businessGroups.change',
  `WITH changed AS (
     UPDATE contacts c SET business_group = $3, full_name = $4, folded_name = $5, updated_at = now()
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2
     RETURNING c.*
   )
   ${raiseEvents(contactEvents('contact.updated', '$6', 'changed'))}`,
  { raises: 'events' },
)

/** Locks a group's contact until the end of the transaction; null if it is gone. */
export async function lockBusinessGroup(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
): Promise<NamedGroup | null> {
  const [row] = await transaction.run(lock, [organizationId, contactId])
  return row ?? null
}

/** Whether a change of a group was recorded before; `upstreamId`: the id of its message. */
export async function isGroupChangeReported(
  transaction: Queryable,
  organizationId: string,
  upstreamId: string,
  instanceId: string | null,
): Promise<boolean> {
  const [row] = await transaction.run(findReport, [organizationId, upstreamId, instanceId])
  return row?.is_reported === true
}

/** Stores what is known of a group, and its name, and raises contact.updated. */
export async function changeBusinessGroup(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { business_group: group, full_name: name }: NamedGroup,
): Promise<void> {
  const values = [organizationId, contactId, JSON.stringify(group), name, normalizeName(name), newId()]
  await transaction.raise(change, values, [organizationId])
}
