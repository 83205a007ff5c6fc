import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { createLruCache } from '../../lib/async/lru-cache.js'
import { isPublicAddress } from '../../lib/http/address-guard.js'

/** What an address says about its client. */
type Reading = { network: string } | 'private' | 'no address'

/** No address is longer, not even one of IPv6 with the name of an interface. */
const MAX_ADDRESS_LENGTH = 64
/** The addresses used last. Most requests come from a few: proxies, the upstream, storefronts, servers of clients. */
const MAX_REMEMBERED = 5_000

/** Parsing takes some 40 µs, and each request asks several times. */
const remembered = createLruCache<Reading>(MAX_REMEMBERED)

/**
 * The client's public network: an IPv4 address, or the first 64 bits of an IPv6 address, which one client may use
 * entirely. If the connection comes from a private address (a proxy), it is the last public address in X-Forwarded-For;
 * earlier ones can be forged. Null if no address is public.
 */
export function clientNetwork({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): string | null {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
  for (const text of [...forwarded, socket.remoteAddress ?? ''].reverse()) {
    const reading = readAddress(text.trim())
    if (reading === 'no address') return null
    if (reading !== 'private') return reading.network
  }
  return null
}

/** The first 48 bits of a network of IPv6, which one client may use entirely as well; null for IPv4. */
export function areaOf(network: string): string | null {
  return network.includes(':') ? network.split(':').slice(0, 3).join(':') : null
}

function readAddress(text: string): Reading {
  if (text.length > MAX_ADDRESS_LENGTH) return 'no address'
  // A copy: a part of a header would keep the whole header in memory.
  const address = Buffer.from(text, 'latin1').toString('latin1')
  let reading = remembered.get(address)
  if (reading === undefined) {
    reading = parseAddress(address)
    remembered.set(address, reading)
  }
  return reading
}

function parseAddress(text: string): Reading {
  if (!ipaddr.isValid(text)) return 'no address'
  return isPublicAddress(text) ? { network: networkOf(text) } : 'private'
}

function networkOf(text: string): string {
  const address = ipaddr.process(text)
  return address instanceof ipaddr.IPv4
    ? address.toString()
    : address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
}
