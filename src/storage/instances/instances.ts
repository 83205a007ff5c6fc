import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { Instance, InstanceState } from '../../model/instances/instance.js'
import { type RaisedEvents, raiseEvents } from '../events/raise.js'

const COLUMNS = `organization_id, id, name, kind, state, state_code, state_changed_at, token, number, owner, profile_name,
  profile_picture_url, phone_number_id, business_account_id, access_token, app_secret, settings, throughput, restrictions, qr_count, code, wanted, created_at,
  updated_at`

/** The JSON of an instance in events, from the row of the given name. */
const eventInstance = (row: string) => `jsonb_build_object('id', ${row}.id, 'name', ${row}.name, 'kind', ${row}.kind,
  'owner', ${row}.owner, 'profile_name', ${row}.profile_name, 'profile_picture_url', ${row}.profile_picture_url)`

/** An event of each instance of `row`, with more fields as SQL. */
export function instanceEvents(
  type: string,
  id: string,
  row: string,
  more: Readonly<Record<string, string>> = {},
): RaisedEvents {
  const fields = Object.entries({ instance: eventInstance(row), ...more }).map(([name, value]) => `'${name}', ${value}`)
  return { from: row, id, type: `'${type}'`, data: `jsonb_build_object(${fields.join(', ')})` }
}

const insert = statement<Instance>(
  'instances.insert',
  `INSERT INTO instances (organization_id, id, name, kind, state, token, token_hash, number, phone_number_id,
     business_account_id, access_token, app_secret, settings, owner, verify_token_hash)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
   ON CONFLICT (organization_id, name) DO NOTHING
   RETURNING ${COLUMNS}`,
)

const findByNames = sharedStatement<Instance & { n: number }>(
  'instances.findByNames',
  `SELECT wanted.n::int, ${COLUMNS}
   FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS wanted (organization, named, n)
   JOIN instances ON organization_id = wanted.organization AND name = wanted.named`,
)

const findById = statement<Instance>(
  'instances.findById',
  `SELECT ${COLUMNS} FROM instances WHERE organization_id = $1 AND id = $2`,
)

const list = statement<Instance>(
  'instances.list',
  `SELECT ${COLUMNS} FROM instances WHERE organization_id = $1 ORDER BY created_at, id`,
)

const count = statement<{ instances: number }>(
  'instances.count',
  'SELECT count(*)::int AS instances FROM instances WHERE organization_id = $1',
)

const listOwnNumbers = sharedStatement<Instance>(
  'instances.listOwnNumbers',
  `SELECT ${COLUMNS} FROM instances WHERE phone_number_id IS NOT NULL ORDER BY organization_id, id`,
)

const hasNumber = statement<{ found: boolean }>(
  'instances.hasNumber',
  'SELECT EXISTS (SELECT FROM instances WHERE organization_id = $1 AND phone_number_id = $2) AS found',
)

// Raises an event only on a change. Closing deletes the code that was shown.
const changeState = statement<{ id: string }>(
  'instances.changeState',
  `WITH before AS (
     SELECT id, state, state_code, owner FROM instances
     WHERE organization_id = $1 AND id = $2 AND ($9::integer IS NULL OR holder = $9)
     FOR NO KEY UPDATE
   ), changed AS (
     UPDATE instances i
     SET state = $3, state_code = $4, state_changed_at = now(), updated_at = now(), owner = coalesce($5, i.owner),
       profile_name = coalesce($6, i.profile_name), profile_picture_url = coalesce($7, i.profile_picture_url),
       qr_count = CASE WHEN $3 = 'connecting' THEN i.qr_count ELSE 0 END,
       code = CASE WHEN $3 = 'connecting' THEN i.code END
     FROM before
     WHERE i.organization_id = $1 AND i.id = before.id
       AND (before.state, before.state_code, before.owner)
         IS DISTINCT FROM ($3::text, $4::integer, coalesce($5::text, before.owner))
     RETURNING i.*
   ), raised AS (
     ${raiseEvents(
       instanceEvents('instance.state', '$8', 'changed', {
         connection: "jsonb_build_object('state', changed.state, 'statusReason', coalesce(changed.state_code, 200))",
       }),
     )}
   )
   SELECT id FROM changed`,
  { raises: 'events' },
)

const changeNumber = statement<Instance>(
  'instances.changeNumber',
  `UPDATE instances
   SET business_account_id = $3, access_token = $4, app_secret = $5, verify_token_hash = coalesce($6, verify_token_hash),
     owner = coalesce($7, owner), restrictions = NULL, restricted_at = now(), updated_at = now()
   WHERE organization_id = $1 AND phone_number_id = $2 AND kind = 'business_api'
   RETURNING ${COLUMNS}`,
)

const showCode = statement<{ id: string }>(
  'instances.showCode',
  `WITH shown AS (
     UPDATE instances SET state = 'connecting', state_code = NULL, qr_count = $3, code = decode($4, 'base64'), updated_at = now(),
       state_changed_at = CASE WHEN state = 'connecting' THEN state_changed_at ELSE now() END
     WHERE organization_id = $1 AND id = $2 AND state <> 'open' AND ($6::integer IS NULL OR holder = $6)
     RETURNING *
   ), raised AS (
     ${raiseEvents(
       instanceEvents('instance.qrcode', '$5', 'shown', { qrcode: "jsonb_build_object('sealed', $4::text)" }),
     )}
   )
   SELECT id FROM shown`,
  { raises: 'events' },
)

const logOut = statement<{ id: string }>(
  'instances.logOut',
  `WITH before AS (
     SELECT id, (state, state_code) IS DISTINCT FROM ('close', 401) AS changes FROM instances
     WHERE organization_id = $1 AND id = $2
     FOR NO KEY UPDATE
   ), closed AS (
     UPDATE instances i SET state = 'close', state_code = 401, updated_at = now(), qr_count = 0, code = NULL, wanted = false,
       state_changed_at = CASE WHEN before.changes THEN now() ELSE i.state_changed_at END
     FROM before
     WHERE i.organization_id = $1 AND i.id = before.id
     RETURNING i.*, before.changes
   ), credentials AS (
     DELETE FROM device_credentials WHERE organization_id = $1 AND instance_id = $2
   ), keys AS (
     DELETE FROM device_keys WHERE organization_id = $1 AND instance_id = $2
   ), raised AS (
     ${raiseEvents(instanceEvents('instance.logged_out', '$3', 'closed'), {
       ...instanceEvents('instance.state', '$4', 'closed', {
         connection: "jsonb_build_object('state', 'close', 'statusReason', 401)",
       }),
       from: 'closed WHERE changes',
     })}
   )
   SELECT id FROM closed`,
  { raises: 'events' },
)

const want = statement<never>(
  'instances.want',
  'UPDATE instances SET wanted = $3, updated_at = now() WHERE organization_id = $1 AND id = $2 AND wanted <> $3',
)

const changeSettings = statement<Pick<Instance, 'settings'>>(
  'instances.changeSettings',
  `UPDATE instances SET settings = settings || $3::jsonb, updated_at = now()
   WHERE organization_id = $1 AND id = $2
   RETURNING settings`,
)

const remove = statement<{ id: string }>(
  'instances.delete',
  `WITH deleted AS (
     DELETE FROM instances WHERE organization_id = $1 AND id = $2 RETURNING id
   ), entries AS (
     DELETE FROM directory
     WHERE organization_id = $1 AND EXISTS (SELECT FROM deleted)
       AND ((kind = 'instance_token' AND value_hash = $3) OR (kind = 'phone_number_id' AND value_hash = $4))
   )
   SELECT id FROM deleted`,
)

/** The columns of a new instance. */
export type NewInstance = Pick<
  Instance,
  | 'id'
  | 'name'
  | 'kind'
  | 'state'
  | 'token'
  | 'number'
  | 'phone_number_id'
  | 'business_account_id'
  | 'access_token'
  | 'app_secret'
  | 'settings'
  | 'owner'
> & { token_hash: Buffer; verify_token_hash: Buffer | null }

/** Inserts an instance; null if its name is in use. Claim its token and number in the directory first. */
export async function insertInstance(
  db: Queryable,
  organizationId: string,
  instance: NewInstance,
): Promise<Instance | null> {
  const rows = await db.run(insert, [
    organizationId,
    instance.id,
    instance.name,
    instance.kind,
    instance.state,
    instance.token,
    instance.token_hash,
    instance.number,
    instance.phone_number_id,
    instance.business_account_id,
    instance.access_token,
    instance.app_secret,
    JSON.stringify(instance.settings),
    instance.owner,
    instance.verify_token_hash,
  ])
  return rows[0] ?? null
}

/** Changes the credentials of the business instance with a number of its own; null if there is none. */
export async function changeInstanceNumber(
  db: Queryable,
  organizationId: string,
  number: Pick<NewInstance, 'business_account_id' | 'access_token' | 'app_secret' | 'verify_token_hash' | 'owner'> & {
    phone_number_id: string
  },
): Promise<Instance | null> {
  const { phone_number_id, business_account_id, access_token, app_secret, verify_token_hash, owner } = number
  const values = [phone_number_id, business_account_id, access_token, app_secret, verify_token_hash, owner]
  const rows = await db.run(changeNumber, [organizationId, ...values])
  return rows[0] ?? null
}

/** Changes the given settings and returns all of them; null if the instance was deleted. */
export async function changeInstanceSettings(
  db: Queryable,
  organizationId: string,
  id: string,
  settings: Instance['settings'],
): Promise<Instance['settings'] | null> {
  const rows = await db.run(changeSettings, [organizationId, id, JSON.stringify(settings)])
  return rows[0]?.settings ?? null
}

/** Identifies an instance by organization and name. */
export interface InstanceLookup {
  organizationId: string
  name: string
}

/** The instances in the order of the look-ups; null for each that does not exist. */
export async function findInstancesByName(
  db: Queryable,
  lookups: readonly InstanceLookup[],
): Promise<(Instance | null)[]> {
  const rows = await db.run(findByNames, [lookups.map((one) => one.organizationId), lookups.map((one) => one.name)])
  const found: (Instance | null)[] = lookups.map(() => null)
  for (const { n, ...instance } of rows) found[n - 1] = instance
  return found
}

/** One instance by id, or null. */
export async function findInstanceById(db: Queryable, organizationId: string, id: string): Promise<Instance | null> {
  const rows = await db.run(findById, [organizationId, id])
  return rows[0] ?? null
}

/** The organization's instances, oldest first. */
export function listInstances(db: Queryable, organizationId: string): Promise<Instance[]> {
  return db.run(list, [organizationId])
}

export async function countInstances(db: Queryable, organizationId: string): Promise<number> {
  const rows = await db.run(count, [organizationId])
  return rows[0]?.instances ?? 0
}

/** The instances of all organizations that have an own number, at the upstream or the simulator. */
export function listOwnNumberInstances(db: Queryable): Promise<Instance[]> {
  return db.run(listOwnNumbers, [])
}

/** True if an instance of the organization has this number as its own. */
export async function hasInstanceNumber(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
): Promise<boolean> {
  const rows = await db.run(hasNumber, [organizationId, phoneNumberId])
  return rows[0]?.found === true
}

/** The fields that change with an instance's state; null fields stay. */
export interface StateChange {
  state: InstanceState
  code: number | null
  owner: string | null
  profileName: string | null
  profilePictureUrl: string | null
}

/**
 * Sets an instance's state and raises instance.state. False if it does not change, if there is no such instance, or if
 * `holder` is given and does not hold it.
 */
export async function changeInstanceState(
  db: Queryable,
  organizationId: string,
  id: string,
  { state, code, owner, profileName, profilePictureUrl, holder }: StateChange & { holder: number | null },
): Promise<boolean> {
  const values = [organizationId, id, state, code, owner, profileName, profilePictureUrl, newId(), holder]
  return (await db.raise(changeState, values, [organizationId])).length > 0
}

/**
 * Stores the `count`th code of an instance (encrypted, base64) and raises instance.qrcode. Does nothing if the instance
 * is open, or if `holder` is given and does not hold it.
 */
export async function showInstanceCode(
  db: Queryable,
  organizationId: string,
  id: string,
  { count, sealed, holder }: { count: number; sealed: string; holder: number | null },
): Promise<void> {
  await db.raise(showCode, [organizationId, id, count, sealed, newId(), holder], [organizationId])
}

/** Ends an instance's session for good; raises instance.logged_out, and instance.state if that changes. */
export async function logOutInstance(db: Queryable, organizationId: string, id: string): Promise<void> {
  await db.raise(logOut, [organizationId, id, newId(), newId()], [organizationId])
}

/** Sets whether a linked device is to be kept connected. */
export async function setInstanceWanted(
  db: Queryable,
  organizationId: string,
  id: string,
  wanted: boolean,
): Promise<void> {
  await db.run(want, [organizationId, id, wanted])
}

/** Deletes an instance with its session, webhook and directory entries; its messages stay. False if there is none. */
export async function deleteInstance(
  db: Queryable,
  organizationId: string,
  id: string,
  { tokenHash, numberHash }: { tokenHash: Buffer; numberHash: Buffer | null },
): Promise<boolean> {
  return (await db.run(remove, [organizationId, id, tokenHash, numberHash])).length > 0
}
