import { createSocket, type Socket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createNameLookup } from '../../../src/lib/http/name-lookup.js'

const A = 1
const AAAA = 28
const NO_SUCH_NAME = 3

let server: Socket
let servers: string[]
/** By name: addresses of both families, 'nothing', or 'silence'. */
const zone: Record<string, { 4?: string; 6?: Buffer } | 'silence'> = {
  'both.test': { 4: '203.0.113.7', 6: Buffer.from('20010db8000000000000000000000007', 'hex') },
  'old.test': { 4: '203.0.113.8' },
  'slow.test': 'silence',
}

beforeAll(async () => {
  server = createSocket('udp4')
  server.on('message', (query, { port, address }) => {
    const reply = answer(query)
    if (reply) server.send(reply, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  servers = [`127.0.0.1:${server.address().port}`]
})

afterAll(() => {
  server.close()
})

/** A name server's answer to a query for one name; null if it stays silent. */
function answer(query: Buffer): Buffer | null {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const question = query.subarray(12, at + 5)
  const kind = query.readUInt16BE(at + 1)
  const entry = zone[labels.join('.').toLowerCase()]
  if (entry === 'silence') return null
  const ipv4 = kind === A && entry?.[4] ? Buffer.from(entry[4].split('.').map(Number)) : null
  const data = ipv4 ?? (kind === AAAA ? (entry?.[6] ?? null) : null)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (entry ? 0 : NO_SUCH_NAME), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data ? 1 : 0, 6)
  if (!data) return Buffer.concat([head, question])
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(kind, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, question, record, data])
}

function lookUp(name: string, own: string[] = []): Promise<LookupAddress[]> {
  const lookup = createNameLookup({ ownNames: new Set(own), servers })
  return new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, found) => (error ? reject(error) : resolve(found as LookupAddress[])))
  })
}

describe('a lookup of an external name', () => {
  test('returns the addresses of both families', async () => {
    expect(await lookUp('both.test')).toEqual([
      { address: '203.0.113.7', family: 4 },
      { address: '2001:db8::7', family: 6 },
    ])
  })

  test('works with one family, capital letters and a trailing dot', async () => {
    expect(await lookUp('OLD.test.')).toEqual([{ address: '203.0.113.8', family: 4 }])
  })

  test('fails without an address', async () => {
    await expect(lookUp('none.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  test('returns one address on request', async () => {
    const lookup = createNameLookup({ ownNames: new Set(), servers })
    const found = await new Promise((resolve) => {
      lookup('old.test', {}, (error, address, family) => resolve([error, address, family]))
    })
    expect(found).toEqual([null, '203.0.113.8', 4])
  })

  test('does not block work on files while the name server is silent', async () => {
    const silent = Array.from({ length: 20 }, () => lookUp('slow.test').catch(({ code }) => code))
    let answered = 0
    for (const one of silent) one.then(() => answered++)
    await readFile(import.meta.filename)
    expect(answered).toBe(0)
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['ETIMEOUT']))
  })
})

describe('the system resolver looks up', () => {
  test.each(['localhost', 'LOCALHOST', 'localhost.'])('%s, without asking a name server', async (name) => {
    const found = await lookUp(name)
    expect(found.length).toBeGreaterThan(0)
    for (const { address } of found) expect(['127.0.0.1', '::1']).toContain(address)
  })

  test('names from the operator, which may be in the hosts file only', async () => {
    await expect(lookUp('both.test', ['both.test'])).rejects.toThrow()
  })
})
