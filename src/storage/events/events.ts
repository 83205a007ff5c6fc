import type { Queryable } from '../../database/pool.js'
import { FEW, ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { IS_OLD_EVENT, KEPT_SINCE } from '../organizations/retention.js'
import { HAS_MESSAGE, WHOLE_DATA } from './message-rows.js'
import { EVENT_SNAPSHOT } from './transaction-clock.js'

// Events are written by the statements that cause them. Readers read them in windows between two snapshots: everything
// committed after the first and before the second. So a reader misses nothing and waits for nothing, however late a
// transaction commits. Within a window, sequence numbers give the order. A transaction that waited for another one's
// row commits later and has a higher number, so its events come later, in the same window or a later one.

/** How far events have been read. */
export interface EventPosition {
  /** The snapshot at which the window begins: everything visible in it has been read. */
  windowFrom: string
  /** The snapshot at which the window ends; null if the window is not open yet. */
  windowTo: string | null
  /** The number of the last event of the window that was read; null: none. */
  seq: number | null
}

/** How far the events of an organization have been read. */
export type FeedPosition = EventPosition & { organizationId: string }

/** The next events of an organization. */
export interface EventWindow {
  organizationId: string
  events: EventRow[]
  next: EventPosition
}

/** Before every stored event. */
export const OLDEST_POSITION: EventPosition = { windowFrom: '1:1:', windowTo: null, seq: 0 }

/** The columns of an event, under the alias e. */
export const EVENT_COLUMNS = `e.organization_id, e.seq, e.id, e.type, e.contact_id, e.message_id,
     e.transaction_id::text AS transaction_id, e.created_at, ${WHOLE_DATA} AS data`

/**
 * SQL: whether the event `e` is shown, which has data until its contact is erased or its message deleted. Jobs blank the
 * events of an erased contact; they are hidden as soon as it is gone, and short ones as soon as their message is.
 */
export const IS_SHOWN = `e.data <> '{}' AND (e.contact_id IS NULL OR EXISTS (
           SELECT FROM contacts WHERE ${ofOrganization('organization_id', 'e.organization_id')} AND id = e.contact_id OFFSET 0
         )) AND ${HAS_MESSAGE}`

/** The maximum number of events per organization and read. */
const MAX_EVENTS = 1_000
/** How many events a read with a filter looks through. */
const MAX_WALKED = 10_000

interface WindowParts {
  /** What has the positions. */
  positions: string
  limit: string
  /** The last event to look at; NULL: the last one of the window. */
  edge: string
  filter: string
}

// Makes the planner use the indexes regardless of its statistics: for a closed range it expects 1/200 of the rows, for
// an open one a third, and for a LIMIT no more than that. "+ 0" keeps it from finding the smallest number by walking
// through all events of the organization.
const windowsOf = ({ positions, limit, edge, filter }: WindowParts) => `
   SELECT w.organization_id AS reader, w.window_from::text, w.upper::text AS window_to, edge.walked_to, e.*
   FROM (
     SELECT given.*, coalesce(given.window_to, ${EVENT_SNAPSHOT}) AS upper
     FROM ${positions}
   ) w
   CROSS JOIN LATERAL (
     SELECT coalesce(w.seq, least(
       (
         SELECT min(f.seq + 0) FROM events f
         WHERE f.organization_id = w.organization_id
           AND f.transaction_id >= pg_snapshot_xmax(w.window_from) AND f.transaction_id < pg_snapshot_xmax(w.upper)
       ), (
         SELECT min(first.seq) FROM pg_snapshot_xip(w.window_from) AS running (id)
         CROSS JOIN LATERAL (
           SELECT f.seq FROM events f
           WHERE f.organization_id = w.organization_id
             AND f.transaction_id >= running.id AND f.transaction_id <= running.id
           ORDER BY f.transaction_id, f.seq
           LIMIT 1
         ) first
       )
     ) - 1) AS seq
     OFFSET 0
   ) after
   CROSS JOIN LATERAL (SELECT ${edge} AS walked_to OFFSET 0) edge
   LEFT JOIN LATERAL (
     SELECT * FROM (
       SELECT ${EVENT_COLUMNS} FROM events e
       WHERE e.organization_id = w.organization_id AND e.seq > after.seq
         AND pg_visible_in_snapshot(e.transaction_id, w.upper)
         AND NOT pg_visible_in_snapshot(e.transaction_id, w.window_from)
         AND ${IS_SHOWN} AND ${filter}
       ORDER BY e.seq
       LIMIT ${MAX_EVENTS}
     ) e
     LIMIT ${limit}
   ) e ON true
   ORDER BY e.seq`

const POSITIONS = `json_to_recordset($1)
       AS given (organization_id uuid, window_from pg_snapshot, window_to pg_snapshot, seq bigint)
     ${FEW}`
const ONE_POSITION =
  '(SELECT $1::uuid AS organization_id, $2::pg_snapshot AS window_from, $3::pg_snapshot AS window_to, $4::bigint AS seq) given'

const readWindows = sharedStatement<WindowRow>(
  'events.readWindows',
  windowsOf({ positions: POSITIONS, limit: '$2', edge: 'NULL::bigint', filter: 'true' }),
)

// Without the edge, a filter that matches nothing would have all events read, each time.
const readFilteredWindow = statement<WindowRow>(
  'events.readFilteredWindow',
  windowsOf({
    positions: ONE_POSITION,
    limit: '$5',
    edge: `(
     SELECT seq FROM events
     WHERE organization_id = w.organization_id AND seq > after.seq
     ORDER BY seq
     OFFSET ${MAX_WALKED - 1} LIMIT 1
   )`,
    filter: '(edge.walked_to IS NULL OR e.seq <= edge.walked_to) AND e.type = ANY ($6)',
  }),
  { isHeavy: true },
)

/** `walked_to`: the last event that was looked at; null: the whole window was. */
type WindowRow = { reader: string; window_from: string; window_to: string; walked_to: number | null } & (
  | EventRow
  | { seq: null }
)

const newest = sharedStatement<{ window_from: string }>(
  'events.newest',
  `SELECT ${EVENT_SNAPSHOT}::text AS window_from`,
)

// In the order of transactions, which is the order of time: if the first event of an organization is young, so are the
// others.
const prune = sharedStatement<{ count: number }>(
  'events.prune',
  `WITH old AS (
     SELECT e.organization_id, e.transaction_id, e.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT created_at FROM events WHERE organization_id = o.id ORDER BY transaction_id, id LIMIT 1
     ) first CROSS JOIN LATERAL (
       SELECT organization_id, transaction_id, id, created_at FROM events
       WHERE organization_id = o.id AND first.created_at < ${KEPT_SINCE}
       ORDER BY transaction_id, id
       LIMIT $1
     ) e
     WHERE ${IS_OLD_EVENT}
     LIMIT $1
   ), pruned AS (
     DELETE FROM events e USING old
     WHERE e.organization_id = old.organization_id AND e.transaction_id = old.transaction_id AND e.id = old.id
     RETURNING e.id
   )
   SELECT count(*) FROM pruned`,
)

/**
 * The events after these positions, at most `limit` (up to 1,000) per organization, in causal order. Events of erased
 * contacts are left out.
 */
export async function readEventWindows(
  db: Queryable,
  positions: readonly FeedPosition[],
  limit: number,
): Promise<EventWindow[]> {
  const rows = await db.run(readWindows, [writePositions(positions), limit])
  const byReader = new Map<string, WindowRow[]>()
  for (const row of rows) {
    const known = byReader.get(row.reader)
    if (known) known.push(row)
    else byReader.set(row.reader, [row])
  }
  return [...byReader].map(([organizationId, found]) => toWindow(organizationId, found, limit))
}

/**
 * The events of these types after a position, likewise. Fewer may come although others follow, since at most 10,000
 * events are looked through; then `next.windowTo` is set.
 */
export async function readFilteredEventWindow(
  db: Queryable,
  { organizationId, windowFrom, windowTo, seq }: FeedPosition,
  types: readonly string[],
  limit: number,
): Promise<EventWindow> {
  const rows = await db.run(readFilteredWindow, [organizationId, windowFrom, windowTo, seq, limit, types])
  return toWindow(organizationId, rows, limit)
}

/** Positions as the parameter of a statement that reads a recordset. */
function writePositions(positions: readonly FeedPosition[]): string {
  return JSON.stringify(
    positions.map(({ organizationId, windowFrom, windowTo, seq }) => ({
      organization_id: organizationId,
      window_from: windowFrom,
      window_to: windowTo,
      seq,
    })),
  )
}

/** The position after all events that are readable now. */
export async function readNewestPosition(db: Queryable): Promise<EventPosition> {
  const [row] = await db.run(newest, [])
  return { windowFrom: (row as { window_from: string }).window_from, windowTo: null, seq: null }
}

/** Deletes at most `limit` events that are not kept at `now`, and returns their number. Of all organizations. */
export async function pruneEvents(db: Queryable, now: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [limit, now])
  return row?.count ?? 0
}

/**
 * If fewer events than the limit came and the whole window was looked at, it is finished and the next one begins at its
 * end.
 */
function toWindow(organizationId: string, rows: readonly WindowRow[], limit: number): EventWindow {
  const { window_from, window_to, walked_to } = rows[0] as WindowRow
  const events = rows.filter((row): row is WindowRow & EventRow => row.seq !== null)
  const last = events.at(-1)
  const seq = last && events.length === limit ? last.seq : walked_to
  const next: EventPosition =
    seq === null
      ? { windowFrom: window_to, windowTo: null, seq: null }
      : { windowFrom: window_from, windowTo: window_to, seq }
  return { organizationId, events, next }
}
