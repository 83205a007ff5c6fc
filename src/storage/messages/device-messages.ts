import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { Message } from '../../model/messages/message.js'

/** A message of a linked device, with what commands to its network need. */
export type DeviceMessage = Pick<Message, 'id' | 'sender_type' | 'message_type' | 'text' | 'network'> &
  Pick<Contact, 'chat_id' | 'phone_number' | 'network_id'>

const find = statement<DeviceMessage>(
  'deviceMessages.find',
  `SELECT m.id, m.sender_type, m.message_type, m.text, m.network, c.phone_number, c.chat_id, c.network_id
   FROM messages m
   JOIN contacts c ON c.organization_id = m.organization_id AND c.id = m.contact_id
   WHERE m.organization_id = $1 AND m.instance_id = $2 AND (m.upstream_id = $3 OR m.id = $4)`,
)

/** A message of a linked device, by the network's id or by ours; null if there is none. */
export async function findDeviceMessage(
  db: Queryable,
  organizationId: string,
  instanceId: string,
  { upstreamId, id }: { upstreamId: string; id: string | null },
): Promise<DeviceMessage | null> {
  const rows = await db.run(find, [organizationId, instanceId, upstreamId, id])
  return rows[0] ?? null
}
