import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import type { Message } from '../../model/messages/message.js'

type Untyped = Pick<Message, 'organization_id' | 'id' | 'message_type' | 'content' | 'network'>

const listUntyped = statement<Untyped>(
  'gatewayTypes.listUntyped',
  `SELECT m.organization_id, m.id, m.message_type, m.content, m.network
   FROM messages m
   WHERE m.gateway_type IS NULL AND (m.organization_id, m.id) > ($1::uuid, $2::uuid)
   ORDER BY m.organization_id, m.id
   LIMIT $3`,
)

const write = statement<never>(
  'gatewayTypes.write',
  `UPDATE messages m SET gateway_type = g.type
   FROM json_to_recordset($1) AS g (organization_id uuid, id uuid, type text)
   WHERE ${ofOrganization('m.organization_id', 'g.organization_id')} AND m.id = g.id AND m.gateway_type IS NULL`,
)

const countAll = statement<{ count: number }>(
  'gatewayTypes.count',
  'SELECT count(*)::float8 AS count FROM messages WHERE gateway_type IS NULL',
)

/** How many rows one statement locks. */
const BATCH = 1_000

/** The number of messages, of all organizations, that a version before 0015 recorded without their type. */
export async function countUntyped(db: Queryable): Promise<number> {
  const [row] = await db.run(countAll, [])
  return (row as { count: number }).count
}

type Position = Pick<Message, 'organization_id' | 'id'>

/** Fills in the types of the next messages without one after `position`. Resolves to the last one; null: no more. */
export async function fillGatewayTypes(
  db: Queryable,
  position: unknown,
): Promise<{ position: Position | null; rows: number }> {
  const after = (position ?? { organization_id: NIL_UUID, id: NIL_UUID }) as Position
  const messages = await db.run(listUntyped, [after.organization_id, after.id, BATCH])
  const types = messages.map((message) => ({
    organization_id: message.organization_id,
    id: message.id,
    type: gatewayType(message),
  }))
  if (types.length > 0) await db.run(write, [JSON.stringify(types)])
  const last = messages[BATCH - 1]
  return { position: last ? { organization_id: last.organization_id, id: last.id } : null, rows: types.length }
}
