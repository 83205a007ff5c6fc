import { randomInt } from 'node:crypto'
import { exchangeOnce } from '../../src/lib/http/exchange.js'
import { isHttpUrl } from '../numbers/business-numbers.js'

/** Why an address was not verified; null: it was. */
export type Verification = string | null

const maxAnswerBytes = 10_000

/** Asks an address to repeat a challenge, as the upstream does when it is set, within `timeoutMs`. */
export async function verifyAddress(url: string, verifyToken: string, timeoutMs: number): Promise<Verification> {
  if (!isHttpUrl(url)) return 'URL is not valid'
  const challenge = String(randomInt(10 ** 9))
  const asked = new URL(url)
  // The upstream sends a plus of the path as a space.
  asked.pathname = asked.pathname.replaceAll('+', '%20')
  asked.searchParams.set('hub.mode', 'subscribe')
  asked.searchParams.set('hub.challenge', challenge)
  asked.searchParams.set('hub.verify_token', verifyToken)
  const request = { method: 'GET', headers: {}, body: null } as const
  try {
    const { statusCode, body } = await exchangeOnce(asked.href, request, AbortSignal.timeout(timeoutMs), maxAnswerBytes)
    if (statusCode !== 200) return `HTTP Status Code = ${statusCode}`
    return body === challenge ? null : 'HTTP Status Code = 200; the challenge was not repeated'
  } catch {
    return 'curl_errno = 28; curl_error = Operation timed out; HTTP Status Code = 0'
  }
}
