import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from '../lib/http/address-guard.js'

/**
 * The public network from which a request comes: an IPv4 address, or the first 64 bits of an IPv6 address, all of which one client may
 * use. Where the connection comes from a private address, that of a proxy, it is the last public address in X-Forwarded-For: what stands
 * before it may be made up. Null where no address is public.
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

function networkOf(text: string): string {
  const address = ipaddr.process(text)
  return address instanceof ipaddr.IPv4
    ? address.toString()
    : address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
}
