import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { isUuid } from '../../lib/bytes/id.js'
import type { Asker } from '../../model/messages/cause.js'
import type { TraceDelivery, TracedMessage, TraceEvent, TraceNote, TraceRelative } from '../../model/messages/trace.js'
import { isDeadProcess } from '../processes/process-registry.js'
import { hasContact } from './messages.js'

interface FoundRow extends Omit<TracedMessage, 'notes'> {
  /** What was noted while processes of 1.0 may have run, the oldest first. */
  trace: TraceNote[] | null
  /** What was noted since, the newest first. */
  notes: TraceNote[] | null
}

const find = statement<FoundRow>(
  'traces.find',
  `SELECT m.id, m.contact_id, m.seq, m.upstream_id, m.sender_type, m.status, m.outcome, m.error, m.recorded_at, m.accepted_at,
     m.delivered_at, m.read_at, m.failed_at, m.broadcast_id, m.trace, m.notes
   FROM messages m
   WHERE m.organization_id = $1 AND (m.id = $2 OR m.upstream_id = $3) AND ${hasContact('$1::uuid')}
   ORDER BY m.id = $2 DESC NULLS LAST
   LIMIT 1`,
)

// A message's events were raised by the transactions that wrote its notes. Each raised events of at most a batch of messages.
const listEvents = statement<TraceEvent>(
  'traces.listEvents',
  `SELECT e.seq, e.id, e.type, e.created_at
   FROM (SELECT unnest($3::text[])::xid8 AS id ${FEW_ROWS}) x CROSS JOIN LATERAL (
     SELECT seq, id, type, created_at FROM events
     WHERE organization_id = $1 AND transaction_id = x.id AND coalesce(message_id::text, data -> 'message' ->> 'id') = $2::text
     OFFSET 0
   ) e
   ORDER BY e.seq
   LIMIT $4`,
)

const listDeliveries = statement<TraceDelivery>(
  'traces.listDeliveries',
  `SELECT d.id, d.webhook_id, w.url, d.event_id, d.event_type, d.status, d.attempts, d.next_attempt_at, d.created_at
   FROM (SELECT unnest($2::bigint[]) AS seq ${FEW_ROWS}) given CROSS JOIN LATERAL (
     SELECT * FROM webhook_deliveries WHERE ${ofOrganization('organization_id', '$1::uuid')} AND event_seq = given.seq OFFSET 0
   ) d
   LEFT JOIN webhooks w ON w.organization_id = $1 AND w.id = d.webhook_id
   ORDER BY d.id
   LIMIT $3`,
)

const listChanges = statement<TraceRelative>(
  'traces.listChanges',
  `SELECT id, message_type, sender_type, recorded_at FROM messages
   WHERE organization_id = $1 AND context_upstream_id = $2 AND contact_id = $3 AND seq IS NULL
   ORDER BY recorded_at, id
   LIMIT $4`,
)

const findAnswer = statement<TraceRelative>(
  'traces.findAnswer',
  `SELECT id, message_type, sender_type, recorded_at FROM messages
   WHERE organization_id = $1 AND contact_id = $2 AND seq > $3 AND seq <= $3::bigint + $4
     AND sender_type IN ('human-chat', 'bot-chat')
   ORDER BY seq
   LIMIT 1`,
)

const findName = statement<{ name: string | null }>(
  'traces.findName',
  `SELECT CASE $2::text
     WHEN 'api_key' THEN (SELECT name FROM api_keys WHERE organization_id = $1 AND id = $3)
     WHEN 'member' THEN (SELECT full_name FROM members WHERE organization_id = $1 AND id = $3)
     WHEN 'instance' THEN (SELECT name FROM instances WHERE organization_id = $1 AND id = $3)
     WHEN 'broadcast' THEN (SELECT name FROM broadcasts WHERE organization_id = $1 AND id = $3)
   END AS name`,
)

const isDead = sharedStatement<{ is_dead: boolean }>(
  'traces.isDead',
  `SELECT ${isDeadProcess('$1::integer')} AS is_dead`,
)

/** The message with this id, ours or the upstream's, and its notes in order; null if there is none. */
export async function findTracedMessage(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<TracedMessage | null> {
  const [row] = await db.run(find, [organizationId, isUuid(id) ? id : null, id])
  if (row === undefined) return null
  const { trace, notes, ...message } = row
  return { ...message, notes: [...(trace ?? []), ...(notes ?? []).reverse()] }
}

/** At most `limit` events of a message that these transactions raised, in order. */
export function listMessageEvents(
  db: Queryable,
  organizationId: string,
  id: string,
  { transactionIds, limit }: { transactionIds: readonly string[]; limit: number },
): Promise<TraceEvent[]> {
  return db.run(listEvents, [organizationId, id, transactionIds, limit])
}

/** At most `limit` deliveries of these events, oldest first. */
export function listEventDeliveries(
  db: Queryable,
  organizationId: string,
  seqs: readonly number[],
  limit: number,
): Promise<TraceDelivery[]> {
  return db.run(listDeliveries, [organizationId, seqs, limit])
}

/** At most `limit` reactions to a message, edits and revocations of it, oldest first. */
export function listChangesOf(
  db: Queryable,
  organizationId: string,
  { upstream_id, contact_id }: Pick<TracedMessage, 'upstream_id' | 'contact_id'>,
  limit: number,
): Promise<TraceRelative[]> {
  return db.run(listChanges, [organizationId, upstream_id, contact_id, limit])
}

/** The organization's first message among the `within` ones that follow; null if there is none. */
export async function findFirstAnswer(
  db: Queryable,
  organizationId: string,
  { contact_id, seq }: Pick<TracedMessage, 'contact_id' | 'seq'>,
  within: number,
): Promise<TraceRelative | null> {
  const [row] = await db.run(findAnswer, [organizationId, contact_id, seq, within])
  return row ?? null
}

/** The name of who asked for a message; null if it is gone or has none. */
export async function findAskerName(
  db: Queryable,
  organizationId: string,
  by: Asker,
  id: string,
): Promise<string | null> {
  const [row] = await db.run(findName, [organizationId, by, id])
  return row?.name ?? null
}

/** Whether the process with this id has ended. */
export async function hasProcessEnded(db: Queryable, processId: number): Promise<boolean> {
  const [row] = await db.run(isDead, [processId])
  return row?.is_dead === true
}
