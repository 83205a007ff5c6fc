import type { Context } from '../../../context.js'
import type {
  AskedNote,
  MessageTrace,
  TraceDelivery,
  TracedMessage,
  TraceEntry,
  TraceEvent,
  TraceNote,
  TraceRelative,
} from '../../../model/messages/trace.js'
import { MAX_NOTES } from '../../../model/messages/trace.js'
import { Problem } from '../../../model/problem.js'
import {
  findAskerName,
  findFirstAnswer,
  findTracedMessage,
  hasProcessEnded,
  listChangesOf,
  listEventDeliveries,
  listMessageEvents,
} from '../../../storage/messages/traces.js'
import { entriesOfNote } from './entries-of-note.js'

type TraceContext = Pick<Context, 'database' | 'clock'>

const MAX_EVENTS = 100
const MAX_DELIVERIES = 100
const MAX_CHANGES = 20
const MAX_ENTRIES = 500
/** The answer to a message of a customer is looked for among this many messages that follow it. */
const MAX_FOLLOWING = 50
/** No send takes longer. */
const MAX_SEND_MS = 3 * 60_000

/** Everything that is known about the life of a message; `id`: ours or the upstream's. Throws message_not_found. */
export async function readTrace(ctx: TraceContext, organizationId: string, id: string): Promise<MessageTrace> {
  const message = await findTracedMessage(ctx.database, organizationId, id)
  if (message === null) {
    throw new Problem('message_not_found', `There is no message with the id ${id} in this organization`)
  }
  const [told, followed] = await Promise.all([
    readNotes(ctx, organizationId, message),
    readFollowing(ctx, organizationId, message),
  ])
  const entries = [...told, ...followed.entries].map((entry, index) => ({ entry, index, at: Date.parse(entry.at) }))
  entries.sort((one, other) => one.at - other.at || one.index - other.index)
  const { notes } = message
  return {
    message_id: message.id,
    contact_id: message.contact_id,
    direction: message.sender_type === 'user-chat' || message.sender_type === 'system' ? 'inbound' : 'outbound',
    status: message.status,
    outcome: message.outcome,
    trace_id: notes.find((note): note is AskedNote => note.k === 'asked')?.trace ?? null,
    is_cut: followed.isCut || notes.length >= MAX_NOTES || entries.length > MAX_ENTRIES,
    entries: entries.slice(0, MAX_ENTRIES).map(({ entry }) => entry),
  }
}

/** The entries of the message's notes and row. */
async function readNotes(ctx: TraceContext, organizationId: string, message: TracedMessage): Promise<TraceEntry[]> {
  const { notes } = message
  const asked = notes.find((note): note is AskedNote => note.k === 'asked')
  const name = asked ? await findAskerName(ctx.database, organizationId, asked.by, asked.id) : null
  const entries: TraceEntry[] = []
  if (asked === undefined) entries.push({ at: toIso(message.recorded_at), kind: 'recorded' })
  let open: { process: number; at: number } | null = null
  for (const note of notes) {
    if (note.k === 'taken' && open !== null) entries.push(unanswered(open.at))
    entries.push(...entriesOfNote(note, name))
    if (note.k === 'asked') {
      const recordMs = notes.find((one) => one.k === 'calls')?.recorded
      entries.push({
        at: toIso(message.recorded_at),
        kind: 'recorded',
        ...(recordMs != null && { duration_ms: recordMs }),
      })
      open = { process: note.process, at: message.recorded_at.getTime() }
    } else if (note.k === 'taken') open = note
    else if (note.k === 'calls' || note.k === 'settled') open = null
  }
  if (open !== null && (await isOver(ctx, open))) entries.push(unanswered(open.at))
  entries.push(...statusesOfRow(message))
  return entries
}

/** The process that made the call has ended, or could not store the answer. */
async function isOver({ database, clock }: TraceContext, open: { process: number; at: number }): Promise<boolean> {
  return clock().getTime() - open.at > MAX_SEND_MS || (await hasProcessEnded(database, open.process))
}

function unanswered(at: number): TraceEntry {
  return { at: toIso(at), kind: 'unanswered' }
}

/** The changes of status that no note describes. */
function statusesOfRow(message: TracedMessage): TraceEntry[] {
  const { notes, sender_type, accepted_at, delivered_at, read_at, failed_at, error } = message
  const isInbound = sender_type === 'user-chat' || sender_type === 'system'
  const times = { ...(!isInbound && { sent: accepted_at, delivered: delivered_at, failed: failed_at }), read: read_at }
  return Object.entries(notes.length === 0 || isInbound ? times : {}).flatMap(([status, at]): TraceEntry[] => {
    if (at === null || at === undefined) return []
    const why = status === 'failed' && error ? { error_code: error.code, text: error.text } : {}
    return [{ at: toIso(at), kind: 'status_changed', status, ...why }]
  })
}

/** What followed from the message: its events with their deliveries, changes, the answer to it. */
async function readFollowing(
  { database }: TraceContext,
  organizationId: string,
  message: TracedMessage,
): Promise<{ entries: TraceEntry[]; isCut: boolean }> {
  const raised = transactionsOf(message.notes)
  const [events, changes, answer] = await Promise.all([
    raised.length === 0
      ? []
      : listMessageEvents(database, organizationId, message.id, { transactionIds: raised, limit: MAX_EVENTS + 1 }),
    message.upstream_id === null ? [] : listChangesOf(database, organizationId, message, MAX_CHANGES + 1),
    message.sender_type === 'user-chat' && message.seq !== null
      ? findFirstAnswer(database, organizationId, message, MAX_FOLLOWING)
      : null,
  ])
  const seqs = events.slice(0, MAX_EVENTS).map(({ seq }) => seq)
  const deliveries =
    seqs.length === 0 ? [] : await listEventDeliveries(database, organizationId, seqs, MAX_DELIVERIES + 1)
  return {
    entries: [
      ...events.slice(0, MAX_EVENTS).map(entryOfEvent),
      ...deliveries.slice(0, MAX_DELIVERIES).flatMap(entriesOfDelivery),
      ...changes.slice(0, MAX_CHANGES).map(entryOfChange),
      ...(answer ? [{ at: toIso(answer.recorded_at), kind: 'answered' as const, message_id: answer.id }] : []),
    ],
    isCut: events.length > MAX_EVENTS || deliveries.length > MAX_DELIVERIES || changes.length > MAX_CHANGES,
  }
}

function transactionsOf(notes: readonly TraceNote[]): string[] {
  return [...new Set(notes.flatMap(({ x }) => x ?? []))]
}

function entryOfEvent({ id, type, created_at }: TraceEvent): TraceEntry {
  return { at: toIso(created_at), kind: 'event_raised', event_id: id, event_type: type }
}

function entriesOfDelivery(delivery: TraceDelivery): TraceEntry[] {
  const { id, webhook_id, url, event_id, event_type, status, attempts, next_attempt_at, created_at } = delivery
  // Paths and queries of endpoints may hold secrets.
  const host = url === null || !URL.canParse(url) ? {} : { webhook_host: new URL(url).host }
  const named = { delivery_id: id, webhook_id, ...host, event_id, event_type }
  const created: TraceEntry = {
    at: toIso(created_at),
    kind: 'delivery_created',
    ...named,
    status,
    ...(next_attempt_at !== null && { retry_at: toIso(next_attempt_at) }),
  }
  return [
    created,
    ...attempts.map(
      ({ at, response_status, error, duration_ms }, index): TraceEntry => ({
        at: toIso(at),
        kind: 'delivery_attempted',
        ...named,
        attempt: index + 1,
        duration_ms,
        ...(response_status !== null && { http_status: response_status }),
        ...(error !== null && { text: error }),
      }),
    ),
  ]
}

function entryOfChange({ id, message_type, recorded_at }: TraceRelative): TraceEntry {
  return { at: toIso(recorded_at), kind: 'changed', change: message_type, message_id: id }
}

function toIso(at: Date | string | number): string {
  return new Date(at).toISOString()
}
