import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineOf, readNote, type TraceNote } from '../../../src/model/messages/trace.js'

const time = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 })
const ms = fc.nat(100_000)
const word = fc.oneof(fc.uuid(), fc.string(), fc.constantFrom('-', '', 'two words'))

const asked = fc.record(
  {
    k: fc.constant('asked'),
    at: time,
    by: fc.constant('api_key'),
    id: fc.uuid(),
    process: fc.nat(),
    request: word,
    key: word,
  },
  { requiredKeys: ['k', 'at', 'by', 'id', 'process'] },
)
const call = fc.record(
  {
    at: time,
    ms,
    outcome: fc.constantFrom('accepted', 'unknown'),
    status: fc.constant(200),
    upstream: word,
    text: word,
  },
  { requiredKeys: ['at', 'ms', 'outcome'] },
)
const calls = fc
  .record(
    { k: fc.constant('calls'), at: time, calls: fc.array(call, { maxLength: 3 }), recorded: ms, again: time },
    { requiredKeys: ['k', 'at', 'calls'] },
  )
  // As they are noted: right after the call.
  .map((note) => ({ ...note, at: note.calls[0] ? note.calls[0].at + note.calls[0].ms : note.at }))
const callback = fc.record(
  { k: fc.constant('callback'), id: fc.uuid(), at: time, status: fc.constantFrom('sent', 'read'), said: time },
  { requiredKeys: ['k', 'id', 'at'] },
)

describe('a note', () => {
  it('is the same after it was stored, as a line or as an object', () => {
    const notes = fc.oneof(
      asked,
      calls,
      fc.tuple(callback, ms).map(([note, took]) => ({ ...note, done: note.at + took })),
    )
    fc.assert(
      fc.property(notes, (given) => {
        const note = given as TraceNote
        expect(readNote(lineOf(note) ?? note)).toEqual(note)
      }),
    )
  })

  it('is a short line if it is an ordinary one', () => {
    const id = '01a2000c-ab86-7e39-a203-69cb458524de'
    const at = 1_795_000_220_000
    expect(lineOf({ k: 'callback', id, at, done: at + 12, status: 'read', said: at - 900 })).toBe(
      `callback ${id} read ${at} 12 ${at - 900}`,
    )
    expect(lineOf({ k: 'asked', at, by: 'api_key', id, request: 'r-1', process: 7 })).toBe(
      `asked ${at} api_key ${id} 7 r-1 - -`,
    )
    expect(lineOf({ k: 'calls', at, calls: [{ at, ms: 45, outcome: 'accepted', status: 200 }], recorded: 3 })).toBe(
      `calls ${at} 45 accepted 200 - 3`,
    )
    expect(lineOf({ k: 'taken', at, process: 7 })).toBeNull()
  })

  it('has its transaction after its line, or that it changed nothing', () => {
    const id = '01a2000c-ab86-7e39-a203-69cb458524de'
    expect(readNote(`callback ${id} - 5 2 - 734`)).toEqual({ k: 'callback', id, at: 5, done: 7, x: '734' })
    expect(readNote(`callback ${id} sent 5 2 3 idle`)).toEqual({
      ...{ k: 'callback', id, at: 5, done: 7, status: 'sent', said: 3 },
      idle: true,
    })
    expect(readNote('calls 5 2 unknown - - - 734')).toEqual({
      ...{ k: 'calls', at: 7, calls: [{ at: 5, ms: 2, outcome: 'unknown' }] },
      x: '734',
    })
  })
})
