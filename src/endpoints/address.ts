import { isIP } from 'node:net'
import { type AddressGuard, guardLookup, PrivateAddressError } from '../lib/http/address-guard.js'

const LOOKUP_TIMEOUT_MS = 3_000

/** Parses an endpoint's URL; returns the URL or the problem. Numeric hosts (2130706433, 0x7f.1) become IP addresses. */
export function readUrl(text: string): { url: URL } | { problem: string } {
  if (/[\s\p{Cc}]/u.test(text)) return { problem: 'the URL contains white space or control characters' }
  if (!URL.canParse(text)) return { problem: 'the URL is not valid' }
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { problem: 'the URL begins with neither http:// nor https://' }
  }
  if (url.username || url.password) return { problem: 'the URL contains a user name or password' }
  return { url }
}

/** Why the endpoint at `text` may not be called; null if it may, or if its name cannot be resolved within 3 s. */
export async function findObstacle(guard: AddressGuard, text: string): Promise<string | null> {
  const target = readUrl(text)
  if ('problem' in target) return target.problem
  const host = target.url.hostname.replace(/^\[|\]$/g, '')
  const refusal = isIP(host) ? guard.check(host, host) : await lookUp(guard, host)
  return refusal && describeRefusal(refusal)
}

/** Completes "the endpoint cannot be called: …" for users. */
export function describeRefusal({ address }: PrivateAddressError): string {
  return `its address ${address} is private: webhooks are sent to public addresses only`
}

/** The guard's refusal if every address of `host` is private. */
function lookUp(guard: AddressGuard, host: string): Promise<PrivateAddressError | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LOOKUP_TIMEOUT_MS, null)
    guardLookup(guard)(host, { all: true }, (error) => {
      clearTimeout(timer)
      resolve(error instanceof PrivateAddressError ? error : null)
    })
  })
}
