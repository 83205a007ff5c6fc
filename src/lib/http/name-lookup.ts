import { lookup as systemLookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'

export interface NameLookupOptions {
  /** Names that the operator trusts, in lower case; they may be in the hosts file. */
  ownNames: ReadonlySet<string>
  /** Name servers instead of the system's, such as 127.0.0.1:5353. */
  servers?: readonly string[]
}

const TIMEOUT = { timeout: 2_000, tries: 2 }
/** A resolver is replaced after this time, because the system's name servers may change. */
const RENEW_AFTER_MS = 60_000

/**
 * Creates a look-up for names given by clients that does not use the system's four threads: a name server that never
 * answers would block one per name, and file access shares them. Only names without a dot, which are local, and the
 * operator's own names use the system's look-up.
 */
export function createNameLookup({ ownNames, servers }: NameLookupOptions): LookupFunction {
  let resolver = makeResolver(servers)
  let renewAt = Date.now() + RENEW_AFTER_MS
  return (host, options, callback) => {
    const name = host.toLowerCase().replace(/\.$/, '')
    if (ownNames.has(name) || isLocal(name)) return systemLookup(name, options, callback)
    if (Date.now() >= renewAt) {
      resolver = makeResolver(servers)
      renewAt = Date.now() + RENEW_AFTER_MS
    }
    resolve(resolver, name).then(
      (found) => {
        const [first] = found
        if (options.all) callback(null, found)
        else if (first) callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}

function makeResolver(servers: readonly string[] | undefined): Resolver {
  const resolver = new Resolver(TIMEOUT)
  if (servers) resolver.setServers(servers)
  return resolver
}

function isLocal(name: string): boolean {
  return !name.includes('.') || name.endsWith('.localhost')
}

/** At least one address. Throws an error with code ENOTFOUND if there is none, otherwise the look-up's error. */
async function resolve(resolver: Resolver, name: string): Promise<{ address: string; family: number }[]> {
  const answers = await Promise.allSettled([
    resolver.resolve4(name).then((addresses) => addresses.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(name).then((addresses) => addresses.map((address) => ({ address, family: 6 }))),
  ])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found
  const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  throw failures.find(({ code }) => !NO_ADDRESS.includes(code)) ?? noAddress(name)
}

const NO_ADDRESS = ['ENOTFOUND', 'ENODATA']

function noAddress(name: string): Error {
  return Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' })
}
