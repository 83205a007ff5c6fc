import { describe, expect, it } from 'vitest'
import { parseBody, parseStoredBody } from '../../../../src/core/messages/receive/parse-body.js'

const padding = 'x'.repeat(70_000)
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe.each([
  ['small', ''],
  ['large', padding],
])('a %s body', (_size, more) => {
  const bodyOf = (value: string) => Buffer.from(`{"value":${value},"more":"${more}"}`)

  it('is parsed, at any depth', async () => {
    expect(await parseBody(bodyOf('[1,{"a":"b"}]'))).toEqual({ value: [1, { a: 'b' }], more })
    const deep = await parseBody(bodyOf(nested(5_000)))
    expect(deep?.more).toBe(more)
  })

  it('is null if it is not a JSON object', async () => {
    expect(await parseBody(bodyOf('[1,'))).toBeNull()
    expect(await parseBody(Buffer.from(`["${more}"]`))).toBeNull()
    await expect(parseStoredBody(bodyOf('[1,'))).rejects.toThrow('not a JSON object')
  })

  it('has only what can be stored, if it was stored', async () => {
    expect(await parseStoredBody(bodyOf('"a\\u0000b"'))).toEqual({ value: 'a\ufffdb', more })
    expect(JSON.stringify(await parseStoredBody(bodyOf(nested(5_000)))).length).toBeLessThan(200 + more.length)
  })
})
