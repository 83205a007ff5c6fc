import type { IncomingHttpHeaders } from 'node:http'
import { errors } from 'undici'
import { PrivateAddressError } from '../lib/address-guard.js'
import { describeRefusal } from './address.js'

/** Errors that come after a connection was made. */
const BREAKS = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_OVERFLOW'])
const UNKNOWN_NAME = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'])
/** Of OpenSSL and Node: DEPTH_ZERO_SELF_SIGNED_CERT, ERR_TLS_…, ERR_SSL_…, UNABLE_TO_VERIFY_LEAF_SIGNATURE; EPROTO where it is no TLS. */
const INSECURE = /CERT|TLS|SSL|SIGNATURE|ISSUER|^EPROTO$/

/** What is wrong with a status that is no 2xx, as one short sentence. */
export function describeStatus(status: number, { location }: IncomingHttpHeaders): string {
  const hint = status < 400 && location !== undefined ? ': redirects are not followed' : ''
  return `the endpoint answered ${status}${hint}`
}

/** Why no status came, as one short sentence. */
export function describeError(error: Error, timeoutMs: number): string {
  if (error instanceof PrivateAddressError) return describeRefusal(error)
  if (error instanceof errors.ConnectTimeoutError) return describeSilence(timeoutMs)
  const { code = '' } = error as NodeJS.ErrnoException
  if (error instanceof errors.HTTPParserError || BREAKS.has(code)) {
    return 'it hung up, or what it answered is not HTTP'
  }
  if (UNKNOWN_NAME.has(code)) return `its host name has no address (${code})`
  if (INSECURE.test(code)) return `no secure connection could be made (${code})`
  return `it could not be reached${code && ` (${code})`}`
}

/** The same where the time was over. */
export function describeSilence(timeoutMs: number): string {
  return `it did not answer within ${timeoutMs / 1_000} s`
}
