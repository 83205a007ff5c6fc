import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import type { UpstreamSettings } from '../../model/organizations/organization.js'
import type { OwnNumber } from '../../model/organizations/own-number.js'
import { rateOf } from '../../model/organizations/rate.js'

type Row = Omit<OwnNumber, 'messages_per_second'> &
  Pick<UpstreamSettings, 'throughput'> & { messages_per_second: number | null }

/** SQL: the organizations and ids of all numbers that are checked, those of instances too; each once. */
export const ALL_NUMBERS = `(
       SELECT DISTINCT ON (organization_id, phone_number_id) organization_id, phone_number_id, instance_id
       FROM (
         SELECT organization_id, phone_number_id, NULL::uuid AS instance_id FROM upstream_settings
         UNION ALL
         SELECT organization_id, phone_number_id, id FROM instances
         WHERE kind = 'business_api' AND phone_number_id IS NOT NULL AND access_token IS NOT NULL
           AND app_secret IS NOT NULL AND business_account_id IS NOT NULL
       ) connected
       ORDER BY organization_id, phone_number_id, instance_id NULLS FIRST
     )`

// An instance may have the number that is the organization's own, too.
const list = statement<Row>(
  'numbers.list',
  `SELECT n.*, s.state, coalesce(s.facts, '{}') AS facts
   FROM (
     SELECT NULL::uuid AS instance_id, NULL::text AS instance_name, u.phone_number_id, u.business_account_id, NULL::text AS owner,
       u.throughput, u.restrictions, u.messages_per_second, NULL::timestamptz AS created_at
     FROM upstream_settings u
     WHERE u.organization_id = $1
     UNION ALL
     SELECT i.id, i.name, i.phone_number_id, i.business_account_id, i.owner, i.throughput, i.restrictions, NULL, i.created_at
     FROM instances i
     WHERE i.organization_id = $1 AND i.kind = 'business_api' AND i.phone_number_id IS NOT NULL
   ) n LEFT JOIN LATERAL (
     SELECT state, facts FROM number_states
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND phone_number_id = n.phone_number_id
     OFFSET 0
   ) s ON true
   ORDER BY n.created_at NULLS FIRST, n.instance_id`,
)

const findReplyInstance = statement<{ instance_id: string | null }>(
  'numbers.findOfMessage',
  `SELECT m.instance_id FROM messages m
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.contact_id = $2 AND (m.upstream_id = $3 OR m.id = $4)
   LIMIT 1`,
)

// What waits to be sent from the number of the instance $2, whose id is $3.
const countWaiting = statement<{ scheduled: number; broadcasts: number }>(
  'numbers.countWaiting',
  `SELECT (
       SELECT count(*)::int FROM scheduled_messages
       WHERE organization_id = $1 AND instance_id = $2 AND ended_at IS NULL
     ) AS scheduled, (
       SELECT count(*)::int FROM broadcasts b
       WHERE b.organization_id = $1 AND b.status IN ('scheduled', 'running', 'paused') AND (b.from_number = $3 OR EXISTS (
         SELECT FROM broadcast_deferrals d
         WHERE d.organization_id = $1 AND d.broadcast_id = b.id AND d.instance_id = $2
       ))
     ) AS broadcasts`,
)

const forgetState = statement<never>(
  'numbers.forgetState',
  'DELETE FROM number_states WHERE organization_id = $1 AND phone_number_id = $2',
)

/**
 * The organization's numbers, its own first; those of instances follow, oldest first. An instance with the number that
 * is the organization's own is among them.
 */
export async function listNumberRows(db: Queryable, organizationId: string): Promise<OwnNumber[]> {
  const rows = await db.run(list, [organizationId])
  return rows.map(({ throughput, messages_per_second, ...number }) => ({
    ...number,
    messages_per_second: rateOf({ throughput, ...(messages_per_second !== null && { messages_per_second }) }),
  }))
}

/** The instance that a message of a contact went through, by one of its two ids; undefined: there is no such message. */
export async function findChannelOfMessage(
  db: Queryable,
  organizationId: string,
  contactId: string,
  { id, uuid }: { id: string; uuid: string | null },
): Promise<string | null | undefined> {
  const [row] = await db.run(findReplyInstance, [organizationId, contactId, id, uuid])
  return row?.instance_id
}

/** How many scheduled messages and unfinished broadcasts are to be sent from the number of an instance. */
export async function countWaitingForNumber(
  db: Queryable,
  organizationId: string,
  { instanceId, phoneNumberId }: { instanceId: string; phoneNumberId: string },
): Promise<{ scheduled: number; broadcasts: number }> {
  const [row] = await db.run(countWaiting, [organizationId, instanceId, phoneNumberId])
  return row ?? { scheduled: 0, broadcasts: 0 }
}

/** Forgets what checks have found of a number. */
export async function forgetNumberState(db: Queryable, organizationId: string, phoneNumberId: string): Promise<void> {
  await db.run(forgetState, [organizationId, phoneNumberId])
}
