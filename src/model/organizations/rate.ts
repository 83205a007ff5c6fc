import type { UpstreamSettings } from './organization.js'

/** The upstream's default rate of a number, in messages per second; as a setting: what the upstream allows. */
export const DEFAULT_MESSAGES_PER_SECOND = 80

/** The rate of a number that is also used on a phone. */
const WITH_PHONE = 20
const RATES: Readonly<Record<string, number>> = { STANDARD: DEFAULT_MESSAGES_PER_SECOND, HIGH: 1_000 }

/** What the upstream says about a number that decides its rate. */
interface RateReading {
  throughput: string | null
  isOnPhoneApp: boolean
}

/** How many messages per second the upstream allows a number; null: it did not say. */
export function allowedRate({ throughput, isOnPhoneApp }: RateReading): number | null {
  if (isOnPhoneApp) return WITH_PHONE
  return throughput === null ? null : (RATES[throughput] ?? null)
}

/** How many messages per second are sent through a number: as the operator chose, else as the upstream allows. 0: unlimited. */
export function rateOf({
  messages_per_second = DEFAULT_MESSAGES_PER_SECOND,
  throughput,
}: Pick<UpstreamSettings, 'throughput'> & { messages_per_second?: number }): number {
  return messages_per_second === DEFAULT_MESSAGES_PER_SECOND ? (throughput ?? messages_per_second) : messages_per_second
}
