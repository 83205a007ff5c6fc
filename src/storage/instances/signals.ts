import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { GatewaySignal } from '../../model/webhooks/event.js'
import { raiseEvents } from '../events/raise.js'
import { instanceEvents } from './instances.js'

// Only for a webhook that wants it: nobody else reads such events.
const raise = statement<never>(
  'instanceSignals.raise',
  `WITH wanted AS (
     SELECT i.*, (
       SELECT a.contact_id FROM contact_addresses a
       WHERE a.organization_id = $1 AND a.address = ANY ($6::text[])
       ORDER BY array_position($6, a.address)
       LIMIT 1
     ) AS contact_id
     FROM instances i
     WHERE ${ofOrganization('i.organization_id', '$1::uuid')} AND i.id = $2 AND EXISTS (
       SELECT FROM webhooks w
       WHERE ${ofOrganization('w.organization_id', '$1::uuid')} AND w.instance_id = $2 AND w.active AND w.events && $4::text[]
     )
   )
   ${raiseEvents({
     ...instanceEvents('instance.signal', '$5', 'wanted', { signal: '$3::jsonb' }),
     contactId: 'wanted.contact_id',
   })}`,
  { raises: 'events' },
)

/** What the network of an instance told. */
export interface RaisedSignal {
  signal: GatewaySignal
  /** The names of webhooks' settings that want it. */
  wantedBy: readonly string[]
  /** The forms of the chat's address. */
  addresses: readonly string[]
}

/** Raises instance.signal, of the chat's contact if it is known, if the webhook of the instance wants it. */
export async function raiseInstanceSignal(
  db: Queryable,
  organizationId: string,
  instanceId: string,
  { signal, wantedBy, addresses }: RaisedSignal,
): Promise<void> {
  const values = [organizationId, instanceId, JSON.stringify(signal), wantedBy, newId(), addresses]
  await db.raise(raise, values, [organizationId])
}
