import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, it } from 'vitest'
import { growthDuring } from '../../../support/memory.js'
import { IS_LONG } from '../../../support/times.js'
import { useWorld } from '../../../support/world.js'

const world = useWorld()

const ROWS = IS_LONG ? 100_000 : 60_000
const SUMMARY = 'x'.repeat(400)
/** Two thirds of the file: a service that keeps its rows, or their text, needs more. This one needs 9 MiB for any size. */
const MAX_GROWTH = 18 * 1_048_576
const SAMPLE_MS = 1_000

function* csv() {
  yield 'phone_number,full_name,email,tags,contact_summary\n'
  for (let row = 0; row < ROWS; row++) {
    yield `55119${60_000_000 + row},Ana Souza ${row},ana${row}@example.com,a;b,${SUMMARY}\n`
  }
}

/** Uses the plain client, because fetch keeps a second copy of the body. */
async function request(method: string, path: string, key: string, body = Readable.from('')): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
  const sending = http.request(`${world.app.url}${path}`, { method, headers })
  const [[answer]] = await Promise.all([once(sending, 'response'), pipeline(body, sending)])
  return answer
}

/** Reads an answer without keeping it: resolves to its length and its beginning. */
async function drain(answer: IncomingMessage) {
  const decoder = new TextDecoder()
  let length = 0
  let head = ''
  for await (const part of answer) {
    length += part.length
    if (head.length < 300) head += decoder.decode(part, { stream: true })
  }
  return { length, head }
}

it('imports and exports a large file without growing memory', async () => {
  const { key } = await world.createOrganization()
  const growth = await growthDuring(SAMPLE_MS, async () => {
    const imported = await request('POST', '/contacts/import', key, Readable.from(csv()))
    expect(imported.statusCode).toBe(200)
    const { head, length } = await drain(imported)
    expect(head).toContain(
      `"summary":{"total":${ROWS},"created":${ROWS},"updated":0,"unchanged":0,"skipped":0,"failed":0}`,
    )
    expect(length).toBeGreaterThan(ROWS * 100)
    const exported = await drain(await request('GET', '/contacts/export', key))
    expect(exported.length).toBeGreaterThan(ROWS * SUMMARY.length)
  })
  expect(growth).toBeLessThan(MAX_GROWTH)
})
