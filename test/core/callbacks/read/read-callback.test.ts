import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCallback } from '../../../../src/core/callbacks/read/read-callback.js'
import { TIMES } from '../../../support/times.js'

function callback(value: unknown, field = 'messages') {
  return { entry: [{ id: '1', changes: [{ field, value }] }] }
}

describe('reading a callback', () => {
  it('never throws on a body of any shape', () => {
    fc.assert(fc.property(fc.jsonValue(), (entry) => Array.isArray(readCallback({ entry }))))
  })

  it('never throws on messages and statuses of any shape', () => {
    const key = fc.constantFrom(
      'id',
      'from',
      'type',
      'timestamp',
      'text',
      'context',
      'status',
      'reaction',
      'system',
      'edit',
    )
    const rubbish = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('text', 'reaction', 'edit', 'revoke', 'system', 'failed', 'contacts', 'order', '__proto__'),
    )
    const thing = fc.dictionary(key, rubbish)
    fc.assert(
      fc.property(fc.array(thing), fc.array(thing), fc.array(thing), (messages, statuses, contacts) => {
        const items = readCallback(callback({ messages, statuses, contacts }))
        expect(items.length).toBeLessThanOrEqual(messages.length + statuses.length)
      }),
      { numRuns: 100 * TIMES },
    )
  })

  it('keeps the order, with messages before statuses of one value', () => {
    const message = (id: string) => ({ id, from: '16505550001', type: 'text', text: { body: id } })
    const value = {
      statuses: [{ id: 's1', status: 'sent' }],
      messages: [message('m1'), message('m2')],
    }
    expect(readCallback(callback(value)).map((item) => 'upstreamId' in item && item.upstreamId)).toEqual([
      'm1',
      'm2',
      's1',
    ])
  })

  it('reads messages and statuses of a number in a field that is not known, and in no other field of histories', () => {
    const value = {
      messages: [{ id: 'm', from: '16505550001', type: 'text' }],
      statuses: [{ id: 's', status: 'sent' }],
    }
    const metadata = { phone_number_id: '1' }
    expect(readCallback(callback({ ...value, metadata }, 'other'))).toMatchObject([
      { kind: 'message' },
      { kind: 'status' },
    ])
    expect(readCallback(callback(value, 'other'))).toEqual([])
    expect(readCallback(callback({ ...value, metadata }, 'history'))).toEqual([])
  })
})
