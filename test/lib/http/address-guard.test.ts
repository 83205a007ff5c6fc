import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, getDefaultAutoSelectFamily, type LookupFunction, setDefaultAutoSelectFamily } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAddressGuard, PrivateAddressError } from '../../../src/lib/http/address-guard.js'
import { createHttpClient } from '../../../src/lib/http/client.js'
import { exchange } from '../../../src/lib/http/exchange.js'

const publicAddresses = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8']

const privateAddresses = [
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  // Link-local addresses (cloud metadata services), shared address space, protocol assignments.
  ...['169.254.169.254', '169.254.0.1', '100.64.0.1', '100.127.255.255', '192.0.0.192'],
  // Documentation, benchmarks, 6to4 relays, multicast, reserved, broadcast.
  ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '192.88.99.1', '224.0.0.1', '240.0.0.1'],
  '255.255.255.255',
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '100::1', '5f00::1'],
  ...['2001:db8::1', '3fff::1', '2001:2::1', '2001:10::1', '2001:0:1234::1', '4000::1'],
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, local NAT64, 6to4.
  ...['::ffff:127.0.0.1', '::ffff:a00:1', '::127.0.0.1', '::8.8.8.8', '::ffff:0:127.0.0.1', '64:ff9b::10.0.0.1'],
  ...['64:ff9b::169.254.169.254', '64:ff9b:1::8.8.8.8', '2002:7f00:1::', '2002:a00:1::1'],
  // Not addresses.
  ...['', '127.1', '2130706433', '0x7f.1', 'localhost', '8.8.8.8.'],
]

describe('a guard', () => {
  const guard = createAddressGuard([])

  it.each(publicAddresses)('allows %s', (address) => {
    expect(guard.check('host.test', address)).toBeNull()
  })

  it.each(privateAddresses)('refuses %s', (address) => {
    const refusal = guard.check('host.test', address)
    expect(refusal).toBeInstanceOf(PrivateAddressError)
    expect(refusal).toMatchObject({ host: 'host.test', address, message: expect.stringContaining('host.test') })
  })
})

describe('exceptions of an address guard', () => {
  const guard = createAddressGuard(['files.internal', '10.1.0.0/16', '192.168.1.7', 'fd00:1::/32', '::1'])
  const passes = (host: string, address: string) => guard.check(host, address) === null

  it('may be names, in any case, with or without the last dot', () => {
    expect(passes('files.internal', '10.9.9.9')).toBe(true)
    expect(passes('Files.Internal.', '127.0.0.1')).toBe(true)
    expect(passes('other.internal', '10.9.9.9')).toBe(false)
    expect(passes('files.internal.evil.test', '10.9.9.9')).toBe(false)
  })

  it('may be addresses and ranges, for any name that resolves to them', () => {
    expect(passes('x', '10.1.255.1')).toBe(true)
    expect(passes('x', '10.2.0.1')).toBe(false)
    expect(passes('x', '192.168.1.7')).toBe(true)
    expect(passes('x', '192.168.1.8')).toBe(false)
    expect(passes('x', 'fd00:1:2::3')).toBe(true)
    expect(passes('x', 'fd00:2::3')).toBe(false)
    expect(passes('x', '::1')).toBe(true)
    expect(passes('x', '127.0.0.1')).toBe(false)
  })

  it('for an IPv4 address also apply to it in IPv6', () => {
    expect(passes('x', '::ffff:10.1.2.3')).toBe(true)
    expect(passes('x', '::ffff:10.2.2.3')).toBe(false)
  })
})

describe('guarded connections', () => {
  let server: Server
  let port: number

  beforeAll(async () => {
    server = createServer((_, response) => response.end('inside')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })

  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  async function read(url: string, allowed: string[], lookup?: LookupFunction): Promise<string> {
    const guard = createAddressGuard(allowed, lookup)
    const client = createHttpClient({ guard, connectTimeoutMs: 10_000, keepAliveMs: 0 })
    try {
      return (await exchange(client, { origin: new URL(url), path: '/', method: 'GET' }, 10_000)).body
    } finally {
      client.close()
    }
  }

  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[::1]',
    '0',
    'localhost',
  ])('are not made to http://%s/', async (host) => {
    for (const protocol of ['http', 'https']) {
      const failure = { cause: expect.any(PrivateAddressError) }
      await expect(read(`${protocol}://${host}:${port}/`, [])).rejects.toMatchObject(failure)
    }
  })

  it('are made to allowed addresses', async () => {
    expect(await read(`http://127.0.0.1:${port}/`, ['127.0.0.0/8'])).toBe('inside')
    expect(await read(`http://2130706433:${port}/`, ['127.0.0.1'])).toBe('inside')
    expect(await read(`http://localhost:${port}/`, ['localhost'])).toBe('inside')
  })

  /** A name server that returns these answers in order, and then the last one repeatedly. */
  function answers(...turns: string[][]): { lookup: LookupFunction; asked: () => number } {
    let asked = 0
    const lookup: LookupFunction = (_host, _options, callback) => {
      const addresses = turns[Math.min(asked++, turns.length - 1)] ?? []
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    }
    return { lookup, asked: () => asked }
  }

  it('use the checked address, not a later one of the name', async () => {
    const names = answers(['127.0.0.1'], ['127.0.0.2'])
    expect(await read(`http://rebinding.test:${port}/`, ['127.0.0.1'], names.lookup)).toBe('inside')
    expect(names.asked()).toBe(1)
  })

  it('use only the allowed addresses of a name', async () => {
    const names = answers(['10.0.0.1', '127.0.0.1', '::1'])
    expect(await read(`http://mixed.test:${port}/`, ['127.0.0.1'], names.lookup)).toBe('inside')
    const failure = read(`http://mixed.test:${port}/`, [], names.lookup)
    await expect(failure).rejects.toMatchObject({ cause: { host: 'mixed.test', address: '10.0.0.1' } })
  })

  it('use the first such address if the runtime tries no others', async () => {
    const before = getDefaultAutoSelectFamily()
    setDefaultAutoSelectFamily(false)
    try {
      const names = answers(['10.0.0.1', '127.0.0.1'])
      expect(await read(`http://mixed.test:${port}/`, ['127.0.0.1'], names.lookup)).toBe('inside')
    } finally {
      setDefaultAutoSelectFamily(before)
    }
  })

  it('fail for a name without addresses', async () => {
    await expect(read(`http://none.test:${port}/`, [], answers([]).lookup)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })
})
