import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/lib/text/json.js'
import { hashInSteps, parseJsonInSteps } from '../../../src/lib/text/json-steps.js'

const MANY = Number.MAX_SAFE_INTEGER
const LIMITS = { maxDepth: 64, maxFields: MANY, maxEscaped: MANY }

/** What JSON.parse makes of a text; undefined if it refuses it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe('reading JSON in steps', () => {
  it.each([
    ...['', ' ', '{', '[', '"', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '[1,]', '[,1]', '[1 2]', '{a:1}'],
    ...["{'a':1}", '01', '1.', '.5', '+1', '-', '1e', 'nul', 'True', 'NaN', '[1]]', '{}{}', '"\t"', '"\\x"', '"\\u12"'],
    ...['null', 'true', ' 1 ', '-0', '1e400', '"a"', '""', '"\\""', '"\\\\"', '"\\\\\\""', '"\\ud83d"', '"é😀"', '[]'],
    ...['{}', '[[],{}]', '\t\r\n[ 1 , 2 ]\n', '{"a":{"b":[1,{"c":null}]},"a":2}', '{"__proto__":{"x":1}}', '{"":0}'],
    ...['\u00a01', '\ufeff1', '"a\u2028b"', '{"a":1}x', '123456789012345678901234567890', '[1,2,"\\u0000"]'],
  ])('gives the value that JSON.parse gives: %j', async (text) => {
    const read = await parseJsonInSteps(text, LIMITS)
    expect(read.outcome === 'read' ? read.value : undefined).toEqual(parsed(text))
    expect(read.outcome).toBe(parsed(text) === undefined ? 'malformed' : 'read')
  })

  it('gives the value that JSON.parse gives for random texts, and for each damaged in one place', async () => {
    const damage = fc.record({ at: fc.nat(), put: fc.constantFrom(...',:]}["\\0 \n', '') })
    const given = fc.record({ value: fc.jsonValue({ maxDepth: 6 }), space: fc.constantFrom(0, 1), damage })
    await fc.assert(
      fc.asyncProperty(given, async ({ value, space, damage: { at, put } }) => {
        const whole = JSON.stringify(value, null, space)
        const place = at % whole.length
        for (const text of [whole, `${whole.slice(0, place)}${put}${whole.slice(place + 1)}`]) {
          const read = await parseJsonInSteps(text, LIMITS)
          expect(read.outcome === 'read' ? read.value : undefined).toEqual(parsed(text))
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['maxDepth', '[[[[]]]]', '[[[1]]]'],
    ['maxFields', '{"a":1,"b":2,"c":3,"d":4}', '[{"a":1,"b":2,"c":3},{"d":4}]'],
    ['maxEscaped', '"1234\\n"', '["12345","123\\n","1234567890"]'],
  ] as const)('refuses what is beyond %s', async (limit, beyond, within) => {
    const limits = { maxDepth: 3, maxFields: 3, maxEscaped: 6 }
    expect(await parseJsonInSteps(beyond, limits)).toEqual({ outcome: 'too_large', limit })
    expect(await parseJsonInSteps(within, limits)).toMatchObject({ outcome: 'read' })
  })

  it('tells how deep a value is, and whether it can be stored', async () => {
    expect(await parseJsonInSteps('1', LIMITS)).toMatchObject({ depth: 0, isStorable: true })
    expect(await parseJsonInSteps('{"a":[1],"b":[[1]],"c":1}', LIMITS)).toMatchObject({ depth: 2, isStorable: true })
    expect(await parseJsonInSteps('{"\\u0000":1}', LIMITS)).toMatchObject({ isStorable: false })
    expect(await parseJsonInSteps('["\\ud83d","fine"]', LIMITS)).toMatchObject({ isStorable: false })
  })

  it('gives others their turn', async () => {
    let isDone = false
    let turns = 0
    const reading = parseJsonInSteps(`[${'{"a":[1,2,"text"]},'.repeat(200_000)}0]`, LIMITS).finally(() => {
      isDone = true
    })
    for (; !isDone; turns++) await setImmediate()
    expect(await reading).toMatchObject({ outcome: 'read' })
    expect(turns).toBeGreaterThan(5)
  })
})

it('a value that is hashed in steps has the hash of its canonical JSON', async () => {
  const values = [null, 1, 'é', [], {}, [[], {}, null, 'a'], { b: [1, { d: 1, c: [] }], a: { z: null } }, { '"': '"' }]
  for (const value of values) {
    expect(await hashInSteps(value)).toEqual(createHash('sha256').update(canonicalJson(value)).digest())
  }
})
