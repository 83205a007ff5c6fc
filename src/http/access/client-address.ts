import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from '../../lib/http/address-guard.js'

/**
 * The client's public network: an IPv4 address, or the first 64 bits of an IPv6 address, which one client may use
 * entirely. If the connection comes from a private address (a proxy), it is the last public address in X-Forwarded-For;
 * earlier ones can be forged. Null if no address is public.
 */
export function clientNetwork({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): string | null {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
  for (const text of [...forwarded, socket.remoteAddress ?? ''].reverse()) {
    const address = text.trim()
    if (!ipaddr.isValid(address)) return null
    if (isPublicAddress(address)) return networkOf(address)
  }
  return null
}

/** The first 48 bits of a network of IPv6, which one client may use entirely as well; null for IPv4. */
export function areaOf(network: string): string | null {
  return network.includes(':') ? network.split(':').slice(0, 3).join(':') : null
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
