import type { Queryable } from '../../database/pool.js'
import { FEW, FEW_ROWS, ofOrganization, organizationsOf, sharedStatement } from '../../database/statement.js'
import { type MessageError, type MessageStatus, OUTCOME_UNKNOWN } from '../../model/messages/message.js'
import type { Price } from '../../model/messages/price.js'
import type { CallbackNote } from '../../model/messages/trace.js'
import { countChanges } from '../counts/campaigns.js'
import { raiseEvents } from '../events/raise.js'
import { WRITES_AS_BEFORE } from '../processes/version-before.js'
import { MESSAGE_SNAPSHOT, MESSAGE_STATE, messageEvents } from './message-events.js'
import { ACCEPTED_EVENT, hasContact } from './messages.js'
import { addIdleNote, addNoteOfChange, takesIdleNote } from './trace-notes.js'

export interface ReportedStatus {
  organizationId: string
  /** The instance that it came through; null: the organization's own number. */
  instanceId: string | null
  upstreamId: string
  /** Our id, if the upstream returned it. */
  messageId: string | null
  status: MessageStatus
  at: Date
  error: MessageError | null
  price: Price | null
  /** A form of the recipient's number, possibly a new one. */
  alias: string | null
  /** The recipient's user id as an address. */
  userAddress: string | null
  /** For message.sent, and for the event of the status itself. */
  eventIds: readonly [string, string]
  note: CallbackNote
}

/** SQL: the parts of a price of which the upstream says nothing any more stay as they are in `p`. */
const MERGED_PRICE = ['billable', 'model', 'type', 'category', 'country']
  .map((part) => `coalesce(excluded.${part}, p.${part})`)
  .join(', ')

/** SQL: the order of statuses of the same second. */
const rankOf = (status: string) => `array_position('{failed,sent,delivered,read}'::text[], ${status})`

/** SQL: the message `m` and its contact `c` as events have them. */
const AS_RAISED = `m.organization_id, m.id, m.contact_id, CASE WHEN NOT ${WRITES_AS_BEFORE} THEN ${MESSAGE_STATE} END AS state,
       CASE WHEN ${WRITES_AS_BEFORE} THEN ${MESSAGE_SNAPSHOT} END AS message, CASE WHEN ${WRITES_AS_BEFORE} THEN to_jsonb(c) END AS contact`

/** Parts of such a row. */
const RAISED_PARTS = { message: 'm.message', contact: 'm.contact', state: 'm.state' }

/** SQL: whether the message `m` is of a business number of the gateway whose webhook wants updates. */
const HAS_GATEWAY_WEBHOOK = `EXISTS (
       SELECT FROM webhooks w JOIN instances i ON i.organization_id = w.organization_id AND i.id = w.instance_id
       WHERE w.organization_id = m.organization_id AND w.active AND w.events && '{*,MESSAGES_UPDATE}'
         AND i.kind = 'business_api'
         AND CASE WHEN i.phone_number_id IS NOT NULL THEN i.id END IS NOT DISTINCT FROM m.instance_id
     )`

// A status never goes backwards, but `failed` gives way to later evidence of delivery. Every status, even `failed`,
// proves that the message was accepted, so an outstanding message raises message.sent first. If the upstream gave one
// id to two messages, our own id decides. Statements lock shared messages in the same order.
const apply = sharedStatement<{ message_id: string | null; contact_id: string | null; is_linked: boolean }>(
  'statuses.apply',
  `WITH given AS (
     -- The statuses, in the order in which rows are locked.
     SELECT * FROM json_to_recordset($1) AS given (n int, organization_id uuid, upstream_id text, message_id uuid, status text,
       at timestamptz, error jsonb, alias text, user_address text, sent_event_id uuid, event_id uuid, instance_id uuid,
       note jsonb, price jsonb)
     ORDER BY organization_id, upstream_id
     ${FEW}
   ), before AS (
     -- Finds the message of each status by its upstream id or ours, and locks it.
     SELECT g.n, m.*
     FROM given g CROSS JOIN LATERAL (
       SELECT m.organization_id, m.id, m.contact_id, m.status, m.outcome, m.accepted_at, m.error, m.held_at
       FROM (
         SELECT id FROM messages WHERE organization_id = g.organization_id AND upstream_id = g.upstream_id
         UNION ALL
         SELECT g.message_id
         ${FEW_ROWS}
       ) named JOIN messages m ON ${ofOrganization('m.organization_id', 'g.organization_id')} AND m.id = named.id
       WHERE m.sender_type <> 'user-chat' AND (m.upstream_id = g.upstream_id OR (m.id = g.message_id AND m.upstream_id IS NULL))
         AND ${hasContact('g.organization_id')}
       ORDER BY m.instance_id IS NOT DISTINCT FROM g.instance_id DESC, m.upstream_id NULLS FIRST
       LIMIT 1
       FOR NO KEY UPDATE OF m
     ) m
     ${FEW}
   ), updated AS (
     -- Applies the statuses that do not go backwards.
     UPDATE messages m
     SET upstream_id = CASE
         WHEN m.upstream_id IS NULL AND NOT EXISTS (
           SELECT FROM messages t
           WHERE t.organization_id = g.organization_id AND t.upstream_id = g.upstream_id
             AND t.instance_id IS NOT DISTINCT FROM m.instance_id
         ) THEN g.upstream_id
         ELSE m.upstream_id
       END,
       status = g.status,
       outcome = NULL,
       held_at = NULL,
       error = g.error,
       accepted_at = coalesce(m.accepted_at, g.at),
       delivered_at = CASE WHEN g.status IN ('delivered', 'read') THEN coalesce(m.delivered_at, g.at) ELSE m.delivered_at END,
       read_at = CASE WHEN g.status = 'read' THEN g.at ELSE m.read_at END,
       failed_at = CASE WHEN g.status = 'failed' THEN g.at END,
       ${addNoteOfChange('m', 'g.note')}
     FROM before b JOIN given g USING (n)
     WHERE ${ofOrganization('m.organization_id', 'b.organization_id')} AND m.id = b.id AND CASE g.status
       WHEN 'sent' THEN b.outcome IS NOT NULL OR (b.status = 'sent' AND b.held_at IS NOT NULL) OR (b.status = 'failed' AND b.error ->> 'code' = '${OUTCOME_UNKNOWN}')
       WHEN 'delivered' THEN b.status IN ('sent', 'failed')
       WHEN 'read' THEN b.status IN ('sent', 'delivered', 'failed')
       WHEN 'failed' THEN b.status = 'sent'
     END
     RETURNING b.n, m AS message
   ), noted AS (
     -- Notes the statuses that change nothing, each once.
     UPDATE messages m SET ${addIdleNote('m', 'g.note')}
     FROM before b JOIN given g USING (n) LEFT JOIN updated u USING (n)
     WHERE u.n IS NULL AND ${ofOrganization('m.organization_id', 'b.organization_id')} AND m.id = b.id
       AND ${takesIdleNote('m', 'g.note')}
     RETURNING b.n, m AS message
   ), told AS (
     -- The messages that are sent, for webhooks of the gateway: their clients know the upstream's word for it. Late, after
     -- another status, it would take their message back.
     SELECT u.n, ${AS_RAISED}
     FROM (
         SELECT noted.n, message FROM noted JOIN before b USING (n) WHERE b.status = 'sent'
         UNION ALL
         SELECT n, message FROM updated
       ) u JOIN given g USING (n)
       CROSS JOIN LATERAL (SELECT (u.message).*) m
       JOIN contacts c ON ${ofOrganization('c.organization_id', 'm.organization_id')} AND c.id = m.contact_id
     WHERE g.status = 'sent' AND ${HAS_GATEWAY_WEBHOOK}
   ), changed AS (
     -- The new rows with their old status.
     SELECT u.n, m.*, b.accepted_at AS accepted_at_before, b.status AS status_before, b.error AS error_before
     FROM updated u JOIN before b USING (n) CROSS JOIN LATERAL (SELECT (u.message).*) m
   ), ${countChanges('changed')}, priced AS (
     -- Keeps the newest that is known about each part of the price of each message.
     INSERT INTO message_prices AS p (organization_id, message_id, billable, model, type, category, country, status, at)
     SELECT DISTINCT ON (b.organization_id, b.id) b.organization_id, b.id, (g.price ->> 'billable')::boolean,
       g.price ->> 'model', g.price ->> 'type', g.price ->> 'category', g.price ->> 'country', g.status, g.at
     FROM before b JOIN given g USING (n)
     WHERE g.price IS NOT NULL
     ORDER BY b.organization_id, b.id, g.at DESC
     ON CONFLICT (organization_id, message_id) DO UPDATE SET (billable, model, type, category, country) = (${MERGED_PRICE}),
       status = excluded.status, at = excluded.at
     WHERE (p.at, ${rankOf('p.status')}) <= (excluded.at, ${rankOf('excluded.status')})
       AND (p.billable, p.model, p.type, p.category, p.country) IS DISTINCT FROM (${MERGED_PRICE})
   ), aliases AS (
     -- Adds the form of the number that the upstream uses.
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT c.organization_id, g.alias, c.contact_id
     FROM changed c JOIN given g USING (n)
     WHERE g.alias IS NOT NULL AND c.accepted_at_before IS NULL
     ORDER BY c.organization_id, g.alias
     ON CONFLICT DO NOTHING
   ), shown AS (
     -- The messages and contacts as events have them.
     SELECT u.n, m.message_type, ${AS_RAISED}
     FROM updated u CROSS JOIN LATERAL (SELECT (u.message).*) m
     JOIN contacts c ON ${ofOrganization('c.organization_id', 'm.organization_id')} AND c.id = m.contact_id
   ), raised AS (
     -- Raises message.sent if the acceptance is new, and the event of the status.
     ${raiseEvents(
       {
         ...messageEvents(ACCEPTED_EVENT, 'g.sent_event_id', {
           ...RAISED_PARTS,
           message: `m.message || '{"status": "sent", "error": null}'`,
           state: `(m.state || '{"status": "sent"}') - 'error'`,
           price: 'g.price',
         }),
         organizationId: 'm.organization_id',
         from: 'shown m JOIN given g USING (n) JOIN before b USING (n) WHERE b.accepted_at IS NULL',
       },
       {
         ...messageEvents("'message.' || g.status", 'g.event_id', {
           ...RAISED_PARTS,
           previousStatus: 'b.status',
           price: 'g.price',
         }),
         organizationId: 'm.organization_id',
         from: "shown m JOIN given g USING (n) JOIN before b USING (n) WHERE g.status <> 'sent'",
       },
       {
         ...messageEvents("'instance.message_sent'", 'g.event_id', RAISED_PARTS),
         organizationId: 'm.organization_id',
         from: 'told m JOIN given g USING (n)',
       },
     )}
   )
   SELECT b.id AS message_id, b.contact_id, g.user_address IS NULL OR EXISTS (
       SELECT FROM contact_addresses a
       JOIN contacts c ON ${ofOrganization('c.organization_id', 'a.organization_id')} AND c.id = a.contact_id
       WHERE a.organization_id = g.organization_id AND a.address = g.user_address AND a.contact_id = b.contact_id
         AND ('user:' || c.user_id = a.address OR a.address LIKE '%@%' OR a.left_at IS NOT NULL
           OR (c.user_id IS NOT NULL AND a.instance_id IS NOT NULL))
     ) AS is_linked
   FROM given g LEFT JOIN before b USING (n)
   ORDER BY g.n`,
  { raises: 'events' },
)

/** The message of a status; null if there is none. */
export interface AppliedStatus {
  messageId: string | null
  contactId: string | null
  /** Whether the recipient's user id, if given, leads to the message's contact, which shows it or a better one. */
  isLinked: boolean
}

/**
 * Applies reported statuses, at most one per message. A status of an unknown message, or one that would go backwards,
 * changes nothing and raises nothing. Resolves to the messages of the statuses, in order.
 */
export async function applyStatuses(db: Queryable, statuses: readonly ReportedStatus[]): Promise<AppliedStatus[]> {
  const rows = await db.raise(apply, [toRecordset(statuses)], organizationsOf(statuses))
  return rows.map(({ message_id: messageId, contact_id: contactId, is_linked: isLinked }) => ({
    messageId,
    contactId,
    isLinked,
  }))
}

function toRecordset(statuses: readonly ReportedStatus[]): string {
  return JSON.stringify(
    statuses.map(
      (
        {
          organizationId,
          instanceId,
          upstreamId,
          messageId,
          status,
          at,
          error,
          price,
          alias,
          userAddress,
          eventIds,
          note,
        },
        n,
      ) => ({
        n,
        organization_id: organizationId,
        upstream_id: upstreamId,
        message_id: messageId,
        status,
        at,
        error,
        price,
        alias,
        user_address: userAddress,
        sent_event_id: eventIds[0],
        event_id: eventIds[1],
        instance_id: instanceId,
        note,
      }),
    ),
  )
}
