import type { Queryable } from '../../database/pool.js'
import { opaqueArray, statement } from '../../database/statement.js'

/** A command that the process which holds its instance has begun. */
export interface BegunCommand {
  organization_id: string
  id: string
  instance_id: string
  /** Sealed. */
  command: Buffer
  /** How much longer somebody waits for its answer, in milliseconds. */
  left_ms: number
}

/** A command that is asked for. */
export interface AskedCommand {
  id: string
  instanceId: string
  /** Sealed. */
  command: Buffer
  /** It is to be connected from now on. */
  connects: boolean
  timeoutMs: number
}

/** The answer to a command, sealed. */
export interface TakenAnswer {
  organization_id: string
  id: string
  answer: Buffer
}

/** What has become of a command that nobody waits for any more. */
export interface EndedCommand {
  begun: boolean
  /** Sealed. */
  answer: Buffer | null
}

/** Inserts the command for the instance that `asked` (organization_id, id, held) finds. */
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

// With the command in one statement: a session that ends at this moment finds it, and begins anew.
const insertConnecting = statement<{ held: boolean }>(
  'instanceCommands.insertConnecting',
  insertFor(
    true,
    `UPDATE instances SET wanted = true WHERE organization_id = $1 AND id = $3 AND kind = 'linked_device'
     RETURNING organization_id, id, coalesce(held_until > now(), false) AS held`,
  ),
)

const begin = statement<BegunCommand>(
  'instanceCommands.begin',
  `UPDATE instance_commands SET begun_at = now()
   WHERE (organization_id, id) IN (
     SELECT c.organization_id, c.id
     FROM instance_commands c
     JOIN instances i ON i.organization_id = c.organization_id AND i.id = c.instance_id
     WHERE (c.organization_id, c.instance_id) IN (
         SELECT * FROM unnest(${opaqueArray('$1', 'uuid')}, ${opaqueArray('$2', 'uuid')})
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

// Passed over is what goes with its organization at this moment, for as long as that takes.
const take = statement<TakenAnswer>(
  'instanceCommands.takeAnswers',
  `DELETE FROM instance_commands
   WHERE (organization_id, id) IN (
     SELECT c.organization_id, c.id
     FROM unnest(${opaqueArray('$1', 'uuid')}, ${opaqueArray('$2', 'uuid')}) AS asked (organization_id, id)
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

// By the database's time, by which they expire.
const prune = statement<never>(
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
 * Asks whoever holds the instance to do a command within `timeoutMs`; whether anybody does by now. `connects`: it is to be connected from
 * now on. Null, and nothing is asked, where it is not to be connected, or gone.
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
 * Begins up to `limit` commands, in the order in which they were asked, for those of the instances that the process holds. Nobody else
 * can begin them then, nor be sure any more that they are not done.
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

/** Notes the answer (sealed) to a command that was begun; nothing where nobody waits for it any more. */
export async function answerCommand(db: Queryable, organizationId: string, id: string, value: Buffer): Promise<void> {
  await db.run(answer, [organizationId, id, value])
}

/** Those answers to the commands that there are; the commands end with that. */
export function takeAnswers(
  db: Queryable,
  commands: readonly { organizationId: string; id: string }[],
): Promise<TakenAnswer[]> {
  return db.run(take, [commands.map(({ organizationId }) => organizationId), commands.map(({ id }) => id)])
}

/** Ends a command: not begun by now it is never begun. Null where there is no such command. */
export async function cancelCommand(db: Queryable, organizationId: string, id: string): Promise<EndedCommand | null> {
  const [row] = await db.run(cancel, [organizationId, id])
  return row ?? null
}

/** Deletes commands that should have been answered a minute ago: who asked died. Of all tenants. */
export async function pruneCommands(db: Queryable): Promise<void> {
  await db.run(prune, [])
}
