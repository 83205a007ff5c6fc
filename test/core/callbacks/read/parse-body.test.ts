import { describe, expect, it } from 'vitest'
import { parseBody, parseStoredBody } from '../../../../src/core/callbacks/read/parse-body.js'

const padding = 'x'.repeat(70_000)
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe.each([
  ['small', ''],
  ['large', padding],
])('a %s body', (_size, more) => {
  const bodyOf = (value: string) => Buffer.from(`{"value":${value},"more":"${more}"}`)

  it('is parsed, at any depth', () => {
    expect(parseBody(bodyOf('[1,{"a":"b"}]'))).toEqual({ value: [1, { a: 'b' }], more })
    const deep = parseBody(bodyOf(nested(5_000)))
    expect(deep?.more).toBe(more)
  })

  it('is null if it is not a JSON object', () => {
    expect(parseBody(bodyOf('[1,'))).toBeNull()
    expect(parseBody(Buffer.from(`["${more}"]`))).toBeNull()
    expect(() => parseStoredBody(bodyOf('[1,'))).toThrow('not a JSON object')
  })

  it('has only what can be stored, if it was stored', () => {
    expect(parseStoredBody(bodyOf('"a\\u0000b"'))).toEqual({ value: 'a\ufffdb', more })
    expect(parseStoredBody(bodyOf('"a\\uD83D"'))).toEqual({ value: 'a\ufffd', more })
    expect(parseStoredBody(bodyOf('"\\ud83d\\ude00 \\\\u0000"'))).toEqual({ value: '😀 \\u0000', more })
    expect(parseStoredBody(Buffer.from('{"a":"\xe7"}', 'latin1'))).toEqual({ a: '\ufffd' })
    expect(JSON.stringify(parseStoredBody(bodyOf(nested(5_000)))).length).toBeLessThan(200 + more.length)
  })
})
