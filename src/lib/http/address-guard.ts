import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { createNameLookup } from './name-lookup.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** Keeps connections to addresses given by clients out of the local network. */
export interface AddressGuard {
  /** Why `host` may not be reached at `address` (an IP address in any notation); null if it may. */
  check(host: string, address: string): PrivateAddressError | null
  /** How host names are resolved. */
  lookup: LookupFunction
}

/** The error of a guarded connection to an address that is not public. */
export class PrivateAddressError extends Error {
  readonly host: string
  readonly address: string

  constructor(host: string, address: string) {
    super(`${host} has the address ${address}, which is private: connections are made to public addresses only`)
    this.name = 'PrivateAddressError'
    this.host = host
    this.address = address
  }
}

/**
 * Creates a guard that allows publicly routable single addresses only. `allowedPrivateHosts` are exceptions: host names
 * in lower case, IP addresses, and ranges such as 10.0.0.0/8.
 */
export function createAddressGuard(allowedPrivateHosts: readonly string[], lookup?: LookupFunction): AddressGuard {
  const names = new Set(allowedPrivateHosts.filter((entry) => !isIP(entry) && !entry.includes('/')))
  const ranges = allowedPrivateHosts.filter((entry) => !names.has(entry)).map(toRange)
  return {
    check: (host, address) => (isFine(host, address, names, ranges) ? null : new PrivateAddressError(host, address)),
    lookup: lookup ?? createNameLookup({ ownNames: names }),
  }
}

/**
 * A look-up that returns only allowed addresses, or fails with a PrivateAddressError. The connection goes to the
 * checked address, so a name that later resolves differently gains nothing. IP addresses are never looked up; the
 * caller must check them.
 */
export function guardLookup(guard: AddressGuard): LookupFunction {
  return (host, options, callback) => {
    guard.lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses = found as LookupAddress[]
      const permitted = addresses.filter(({ address }) => guard.check(host, address) === null)
      const first = permitted[0]
      if (!first) return callback(refusalOf(guard, host, addresses), [])
      if (options.all) callback(null, permitted)
      else callback(null, first.address, first.family)
    })
  }
}

function refusalOf(guard: AddressGuard, host: string, addresses: LookupAddress[]): Error {
  const refusal = addresses[0] ? guard.check(host, addresses[0].address) : null
  return refusal ?? Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
}

/** True for an IP address in any notation that is a publicly routable single address. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !IPV4_COMPATIBLE.test(address) && isPublic(unwrap(ipaddr.parse(address)))
}

/** The library reads ::1.2.3.4 as ::ffff:1.2.3.4, which is another address; the former is unused. */
const IPV4_COMPATIBLE = /^::\d+\./

function isFine(host: string, address: string, names: Set<string>, ranges: Range[]): boolean {
  if (names.has(host.toLowerCase().replace(/\.$/, ''))) return true
  if (isPublicAddress(address)) return true
  if (!isIP(address) || IPV4_COMPATIBLE.test(address)) return false
  const parsed = ipaddr.parse(address)
  const reached = unwrap(parsed)
  return ranges.some((range) => isWithin(parsed, range) || isWithin(reached, range))
}

function toRange(entry: string): Range {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry)
  const address = ipaddr.parse(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function isWithin(address: Address, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits)
}

const NAT64 = ipaddr.IPv6.parse('64:ff9b::')
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::')

/** The IPv4 address inside an IPv6 one: mapped (::ffff:1.2.3.4) or translated by NAT64 (RFC 6052). */
function unwrap(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (address.match(NAT64, 96)) return new ipaddr.IPv4(address.toByteArray().slice(12))
  return address
}

function isPublic(address: Address): boolean {
  // Also excludes ranges unknown to the library, such as ::127.0.0.1: only 2000::/3 is in public use.
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST, 3)) return false
  return address.range() === 'unicast'
}
