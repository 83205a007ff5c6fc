import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

/** A change of a linked device's session; all values are encrypted. Each key occurs once. */
export interface SessionChange {
  /** Null: unchanged. */
  credentials: Buffer | null
  written: readonly { type: string; id: string; value: Buffer }[]
  removed: readonly { type: string; id: string }[]
}

const findCredentials = statement<{ credentials: Buffer | null }>(
  'deviceSessions.findCredentials',
  `SELECT c.credentials
   FROM instances i
   LEFT JOIN device_credentials c ON c.organization_id = i.organization_id AND c.instance_id = i.id
   WHERE i.organization_id = $1 AND i.id = $2 AND i.holder = $3`,
)

const findKeys = statement<{ key_id: string; value: Buffer }>(
  'deviceSessions.findKeys',
  `SELECT key_id, value FROM device_keys
   WHERE organization_id = $1 AND instance_id = $2 AND type = $3 AND key_id = ANY ($4::text[])`,
)

/** The instance $2, if the process $3 holds it; it cannot change hands before the statement ends. */
const HELD = `SELECT organization_id, id FROM instances
     WHERE organization_id = $1 AND id = $2 AND holder = $3
     FOR SHARE`

// One statement instead of a transaction, so that a process that is cut off leaves no lock.
const write = statement<{ held: number }>(
  'deviceSessions.write',
  `WITH held AS (
     ${HELD}
   ), credentials AS (
     INSERT INTO device_credentials (organization_id, instance_id, credentials)
     SELECT organization_id, id, $4::bytea FROM held WHERE $4::bytea IS NOT NULL
     ON CONFLICT (organization_id, instance_id) DO UPDATE SET credentials = excluded.credentials, updated_at = now()
   ), written AS (
     INSERT INTO device_keys (organization_id, instance_id, type, key_id, value)
     SELECT held.organization_id, held.id, k.type, k.key_id, k.value
     FROM held, unnest($5::text[], $6::text[], $7::bytea[]) AS k (type, key_id, value)
     ON CONFLICT (organization_id, instance_id, type, key_id) DO UPDATE SET value = excluded.value
   ), removed AS (
     DELETE FROM device_keys d
     USING held, unnest($8::text[], $9::text[]) AS k (type, key_id)
     WHERE d.organization_id = held.organization_id AND d.instance_id = held.id
       AND d.type = k.type AND d.key_id = k.key_id
   )
   SELECT count(*) AS held FROM held`,
)

const clear = statement<{ held: number }>(
  'deviceSessions.clear',
  `WITH held AS (
     ${HELD}
   ), credentials AS (
     DELETE FROM device_credentials d USING held WHERE d.organization_id = held.organization_id AND d.instance_id = held.id
   ), keys AS (
     DELETE FROM device_keys d USING held WHERE d.organization_id = held.organization_id AND d.instance_id = held.id
   )
   SELECT count(*) AS held FROM held`,
)

// The library's ids have the user between these characters: 5511987654321.0, 4711_1.0, 120363@g.us::4711_1::0.
const forget = statement<never>(
  'deviceSessions.forget',
  `DELETE FROM device_keys
   WHERE organization_id = $1 AND string_to_array(translate(key_id, '.:@_', '::::'), ':') && $2::text[]`,
)

/**
 * The encrypted credentials of a linked device, null if it has none; null instead of the result if the process does not
 * hold the instance.
 */
export async function findDeviceCredentials(
  db: Queryable,
  organizationId: string,
  instanceId: string,
  processId: number,
): Promise<{ credentials: Buffer | null } | null> {
  const [row] = await db.run(findCredentials, [organizationId, instanceId, processId])
  return row ?? null
}

/** The encrypted keys that exist, by id. */
export async function findDeviceKeys(
  db: Queryable,
  organizationId: string,
  instanceId: string,
  { type, ids }: { type: string; ids: readonly string[] },
): Promise<Map<string, Buffer>> {
  const rows = await db.run(findKeys, [organizationId, instanceId, type, ids])
  return new Map(rows.map(({ key_id, value }) => [key_id, value]))
}

/** Writes a change atomically; false, without writing, if the process does not hold the instance. */
export async function writeDeviceSession(
  db: Queryable,
  organizationId: string,
  instanceId: string,
  { processId, change }: { processId: number; change: SessionChange },
): Promise<boolean> {
  const { credentials, written, removed } = change
  const [row] = await db.run(write, [
    organizationId,
    instanceId,
    processId,
    credentials,
    written.map(({ type }) => type),
    written.map(({ id }) => id),
    written.map(({ value }) => value),
    removed.map(({ type }) => type),
    removed.map(({ id }) => id),
  ])
  return row?.held === 1
}

/**
 * Deletes the keys of all linked devices that name one of these addresses. A device that is connected makes new ones
 * when the person writes again.
 */
export async function forgetDeviceKeys(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
): Promise<void> {
  const users = addresses.map((address) => address.replace(/^user:/, '').replace(/@.*$/, ''))
  await db.run(forget, [organizationId, users])
}

/** Deletes the session of a linked device; false, without deleting, if the process does not hold the instance. */
export async function clearDeviceSession(
  db: Queryable,
  organizationId: string,
  instanceId: string,
  processId: number,
): Promise<boolean> {
  const [row] = await db.run(clear, [organizationId, instanceId, processId])
  return row?.held === 1
}
