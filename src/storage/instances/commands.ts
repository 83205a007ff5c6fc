import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'

/** A command that the process holding the instance has begun. */
export interface BegunCommand {
  organization_id: string
  id: string
  instance_id: string
  /** Encrypted. */
  command: Buffer
  /** How much longer the caller waits for the answer, in milliseconds. */
  left_ms: number
}

/** A command to insert. */
export interface AskedCommand {
  id: string
  instanceId: string
  /** Encrypted. */
  command: Buffer
  /** The instance must be connected from now on. */
  connects: boolean
  timeoutMs: number
}

/** The answer to a command, encrypted. */
export interface TakenAnswer {
  organization_id: string
  id: string
  answer: Buffer
}

/** The result of a command whose caller has stopped waiting. */
export interface EndedCommand {
  begun: boolean
  /** Encrypted. */
  answer: Buffer | null
}

/** Inserts the command for the instance that the subquery `asked` (organization_id, id, held) finds. */
const insertFor = (connects: boolean, asked: string) => `WITH asked AS (
     ${asked}
   ), inserted AS (
     INSERT INTO instance_commands (organization_id, id, instance_id, command, connects, expires_at)
     SELECT organization_id, $2, id, $4, ${connects}, now() + $5::integer * interval '1 millisecond' FROM asked
   )
   SELECT held FROM asked`

const insert = statement<{ held: boolean }>(
  'instanceCommands.insert',
  insertFor(
    false,
    `SELECT organization_id, id, coalesce(held_until > now(), false) AS held
     FROM instances WHERE organization_id = $1 AND id = $3 AND wanted`,
  ),
)

// In one statement with the command: a session that ends at this moment sees it and starts again.
const insertConnecting = statement<{ held: boolean }>(
  'instanceCommands.insertConnecting',
  insertFor(
    true,
    `UPDATE instances SET wanted = true WHERE organization_id = $1 AND id = $3 AND kind = 'linked_device'
     RETURNING organization_id, id, coalesce(held_until > now(), false) AS held`,
  ),
)

const begin = sharedStatement<BegunCommand>(
  'instanceCommands.begin',
  `UPDATE instance_commands SET begun_at = now()
   WHERE (organization_id, id) IN (
     SELECT c.organization_id, c.id
     FROM instance_commands c
     JOIN instances i ON i.organization_id = c.organization_id AND i.id = c.instance_id
     WHERE (c.organization_id, c.instance_id) IN (
         SELECT * FROM unnest($1::uuid[], $2::uuid[])
       )
       AND c.begun_at IS NULL AND c.expires_at > now() AND i.holder = $3
     ORDER BY c.id
     LIMIT $4
     FOR UPDATE OF c SKIP LOCKED
   )
   RETURNING organization_id, id, instance_id, command,
     (extract(epoch FROM expires_at - now()) * 1000)::float8 AS left_ms`,
)

const answer = statement<never>(
  'instanceCommands.answer',
  'UPDATE instance_commands SET answer = $3 WHERE organization_id = $1 AND id = $2',
)

// Skips rows that are being deleted with their organization.
const take = sharedStatement<TakenAnswer>(
  'instanceCommands.takeAnswers',
  `DELETE FROM instance_commands
   WHERE (organization_id, id) IN (
     SELECT c.organization_id, c.id
     FROM unnest($1::uuid[], $2::uuid[]) AS asked (organization_id, id)
     JOIN instance_commands c USING (organization_id, id)
     WHERE c.answer IS NOT NULL
     FOR UPDATE OF c SKIP LOCKED
   )
   RETURNING organization_id, id, answer`,
)

const cancel = statement<EndedCommand>(
  'instanceCommands.cancel',
  `DELETE FROM instance_commands WHERE organization_id = $1 AND id = $2
   RETURNING begun_at IS NOT NULL AS begun, answer`,
)

// By the database's time, which also sets their expiry.
const prune = sharedStatement<never>(
  'instanceCommands.prune',
  `DELETE FROM instance_commands
   WHERE (organization_id, id) IN (
     SELECT c.organization_id, c.id
     FROM organizations o JOIN instance_commands c ON c.organization_id = o.id
     WHERE c.expires_at < now() - interval '1 minute'
     FOR UPDATE OF c SKIP LOCKED
   )`,
)

/**
 * Stores a command with `timeoutMs` for the process that holds the instance; returns whether one holds it now.
 * `connects`: the instance must be connected from now on. Null, without storing, if the instance is gone or must not be
 * connected.
 */
export async function insertCommand(
  db: Queryable,
  organizationId: string,
  { id, instanceId, command, connects, timeoutMs }: AskedCommand,
): Promise<{ held: boolean } | null> {
  const values = [organizationId, id, instanceId, command, Math.ceil(timeoutMs)]
  const [row] = await db.run(connects ? insertConnecting : insert, values)
  return row ?? null
}

/**
 * Marks up to `limit` commands as begun, oldest first, for those of the instances that the process holds. Other
 * processes can neither begin them then nor treat them as not run.
 */
export async function beginCommands(
  db: Queryable,
  instances: readonly { organization_id: string; id: string }[],
  processId: number,
  limit: number,
): Promise<BegunCommand[]> {
  const organizationIds = instances.map(({ organization_id }) => organization_id)
  const rows = await db.run(begin, [organizationIds, instances.map(({ id }) => id), processId, limit])
  return rows.sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** Stores the encrypted answer to a begun command; does nothing if its caller has stopped waiting. */
export async function answerCommand(db: Queryable, organizationId: string, id: string, value: Buffer): Promise<void> {
  await db.run(answer, [organizationId, id, value])
}

/** Returns the answers that exist and deletes their commands. */
export function takeAnswers(
  db: Queryable,
  commands: readonly { organizationId: string; id: string }[],
): Promise<TakenAnswer[]> {
  return db.run(take, [commands.map(({ organizationId }) => organizationId), commands.map(({ id }) => id)])
}

/** Deletes a command; if it was not begun, it never will be. Null if there is no such command. */
export async function cancelCommand(db: Queryable, organizationId: string, id: string): Promise<EndedCommand | null> {
  const [row] = await db.run(cancel, [organizationId, id])
  return row ?? null
}

/** Deletes commands that expired more than a minute ago because their caller died. Of all organizations. */
export async function pruneCommands(db: Queryable): Promise<void> {
  await db.run(prune, [])
}
