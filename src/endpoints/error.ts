import type { IncomingHttpHeaders } from 'node:http'
import { PrivateAddressError } from '../lib/http/address-guard.js'
import { ConnectTimeoutError, NotConnectedError } from '../lib/http/dispatch.js'
import { describeRefusal } from './address.js'

const HUNG_UP = 'it hung up, or what it answered is not HTTP'
const UNKNOWN_NAME = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'])

/** Describes a status other than 2xx in a short sentence. */
export function describeStatus(status: number, { location }: IncomingHttpHeaders): string {
  const hint = status < 400 && location !== undefined ? ': redirects are not followed' : ''
  return `the endpoint answered ${status}${hint}`
}

/** Why there was no status, in a short sentence. */
export function describeError(error: Error, timeoutMs: number): string {
  if (!(error instanceof NotConnectedError)) return HUNG_UP
  const { code, cause } = error
  if (cause instanceof PrivateAddressError) return describeRefusal(cause)
  if (cause instanceof ConnectTimeoutError) return describeSilence(timeoutMs)
  if (code === 'ECONNRESET') return HUNG_UP
  if (UNKNOWN_NAME.has(code)) return `its host name has no address (${code})`
  if (error.isInsecure) return `no secure connection could be made (${code})`
  return `it could not be reached${code && ` (${code})`}`
}

/** The sentence for a time-out. */
export function describeSilence(timeoutMs: number): string {
  return `it did not answer within ${timeoutMs / 1_000} s`
}
