import type { CallNote, TraceEntry, TraceNote, Wait } from '../../../model/messages/trace.js'

/** The entries of a note, in order. `name`: of the one who asked. */
export function entriesOfNote(note: TraceNote, name: string | null): TraceEntry[] {
  const at = toIso(note.at)
  switch (note.k) {
    case 'asked': {
      const { by, id, request, key, waits = [] } = note
      const named = { ...(request && { request_id: request }), ...(key && { idempotency_key: key }) }
      return [{ at, kind: 'requested', by: { type: by, id, name }, ...named }, ...waits.map(entryOfWait)]
    }
    case 'calls': {
      const { calls, waits = [], again } = note
      const put = again === undefined ? [] : [{ at, kind: 'put_back' as const, retry_at: toIso(again) }]
      return [...waits.map(entryOfWait), ...calls.map(entryOfCall), ...put]
    }
    case 'taken':
      return [{ at, kind: 'resumed' }]
    case 'settled':
      return [{ at, kind: 'given_up' }]
    case 'repeated':
      return [{ at, kind: 'answer_repeated', request_id: note.request }]
    case 'failure': {
      const { request, status, text } = note
      return [{ at, kind: 'failure_answered', request_id: request, http_status: status, text }]
    }
    case 'callback': {
      const { id, done, status, said, idle } = note
      const told = { ...(status && { status }), ...(said !== undefined && { upstream_time: toIso(said) }) }
      const durationMs = Math.max(0, done - note.at)
      return [{ at, kind: 'callback_received', callback_id: id, duration_ms: durationMs, ...told, is_new: !idle }]
    }
    case 'file': {
      const { ms, outcome, text } = note
      return [{ at, kind: 'file_fetched', duration_ms: ms, outcome, ...(text !== undefined && { text }) }]
    }
  }
}

function entryOfWait([reason, at, ms]: Wait): TraceEntry {
  return { at: toIso(at), kind: 'waited', reason, duration_ms: ms }
}

function entryOfCall({ at, ms, outcome, status, code, text, upstream }: CallNote): TraceEntry {
  return {
    at: toIso(at),
    kind: 'called',
    duration_ms: ms,
    outcome,
    ...(status !== undefined && { http_status: status }),
    ...(code !== undefined && { error_code: code }),
    ...(text !== undefined && { text }),
    ...(upstream !== undefined && { upstream_request_id: upstream }),
  }
}

function toIso(at: number): string {
  return new Date(at).toISOString()
}
