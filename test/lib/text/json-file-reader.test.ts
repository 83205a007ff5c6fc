import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FILE_FROM_BYTES, findDropped, readJsonWithFile } from '../../../src/lib/text/json-file-reader.js'

const MANY = 10_000_000

/** Reads a text in pieces of this many bytes; returns the file as text. */
async function read(text: string, size = 65_536, maxBytes = MANY) {
  return readPieces(piecesOf(text, size), maxBytes)
}

function* piecesOf(text: string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function readPieces(texts: Iterable<string | Buffer>, maxBytes = MANY) {
  let file = ''
  async function* pieces() {
    for (const text of texts) yield Buffer.from(text)
  }
  const openFile = async () => ({
    write: async (piece: Buffer) => {
      file += piece.toString('latin1')
    },
  })
  const outcome = await readJsonWithFile(pieces(), {
    paths: new Set(['media', 'in.media']),
    openFile,
    onHeld: () => undefined,
    parse: async (text) => (text.length === 0 ? undefined : JSON.parse(text.toString())),
    maxBytes,
  }).catch((error: Error) => ({ outcome: error instanceof SyntaxError ? 'malformed' : 'failed' }) as const)
  return { outcome, file }
}

describe('a text without a file', () => {
  it('is read as JSON.parse reads it, in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), async (value, size) => {
        const text = JSON.stringify(value)
        const { outcome } = await read(text, size)
        expect(outcome).toEqual({ outcome: 'read', value: JSON.parse(text), marker: null })
      }),
    )
  })

  it.each(['{', '{"a":', '"open', '{"a":"\\x"}', '{"a":"\\u12g4"}', '{]', 'nothing'])(
    '%s is malformed',
    async (text) => {
      expect((await read(text)).outcome.outcome).toBe('malformed')
    },
  )

  it('may be empty', async () => {
    expect((await read('')).outcome).toEqual({ outcome: 'read', value: undefined, marker: null })
  })
})

describe('a long string in a JSON text', () => {
  const long = 'ab/+'.repeat(FILE_FROM_BYTES / 2)

  it.each([
    ['as it is', (text: string) => text],
    ['with slashes escaped', (text: string) => text.replaceAll('/', '\\/')],
    ['with a sign escaped', (text: string) => text.replaceAll('+', '\\u002B')],
  ])('becomes the file: %s', async (_name, write) => {
    for (const size of [65_536, 1_000, 7]) {
      const { outcome, file } = await read(`{"a":[1],"in":{"media":"${write(long)}","b":"x"}}`, size)
      if (outcome.outcome !== 'read') throw new Error(outcome.outcome)
      expect(outcome.value).toEqual({ a: [1], in: { media: outcome.marker, b: 'x' } })
      expect(file === long).toBe(true)
    }
  })

  it('has the meaning that JSON gives it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary-ascii' }), fc.integer({ min: 1, max: 9 }), async (added, size) => {
        const start = `{"media":"${long}`
        const end = `${JSON.stringify(added).slice(1, -1)}"}`
        const { file } = await readPieces([start, ...piecesOf(end, size)])
        expect(file.slice(long.length)).toBe(added)
      }),
      { numRuns: 50 },
    )
  })

  it('is malformed if it has line breaks', async () => {
    const { outcome } = await read(`{"media":"${long.replaceAll(/.{76}/g, '$&\n')}"}`)
    expect(outcome).toEqual({ outcome: 'malformed', text: 'a string holds a control character' })
  })

  it.each(['{"other":"?"}', '["?"]', '{"a":{"media":"?"}}', '{"in":[{"media":"?"}]}'])(
    'becomes a separate file: %s',
    async (form) => {
      const text = form.replace('?', long)
      expect((await read(text)).outcome).toEqual({ outcome: 'read', value: JSON.parse(text), marker: null })
    },
  )

  it('is dropped if no reader uses it', async () => {
    const { outcome } = await read(`{"other":"${'x'.repeat(5_000_000)}","b":1}`)
    if (outcome.outcome !== 'read') throw new Error(outcome.outcome)
    expect(outcome.value).toEqual({ other: expect.stringMatching(/^.{1,50}$/), b: 1 })
    expect(findDropped(outcome.value)).toBe('other')
    expect(findDropped({ a: [{ b: (outcome.value as { other: string }).other }] })).toBe('a[0].b')
    expect(findDropped({ a: [{ b: 'c' }], d: null })).toBeNull()
  })

  it('is malformed if it breaks off', async () => {
    expect((await read(`{"media":"${long}`)).outcome.outcome).toBe('malformed')
  })
})

it('reports a text that is too large', async () => {
  expect((await read(`{"media":"${'a'.repeat(200_000)}"}`, 65_536, 100_000)).outcome).toEqual({
    outcome: 'too_big',
    of: 'all',
  })
  expect((await read(JSON.stringify(Array(300_000).fill('abcd')))).outcome).toEqual({ outcome: 'too_big', of: 'rest' })
})
