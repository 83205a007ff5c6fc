import type { Delivery } from '../messages/send/deliver.js'

/** The upstream's error codes that every further message would get too. */
const STOPPING = new Map<number | string, string>([
  [368, 'The upstream has blocked the account for a violation of its policies'],
  [131031, 'The upstream has locked the account'],
  [131037, "The number's display name is not approved"],
  [131042, 'The upstream misses a valid means of payment'],
  [131045, 'The number is not registered at the upstream'],
  [131048, 'The upstream takes no more messages of this number for now: too many were reported as spam'],
  [132001, 'The template does not exist any more, or is not approved'],
  [132015, 'The upstream has paused the template for its low quality'],
  [132016, 'The upstream has disabled the template for its low quality'],
])

export const TOO_MANY_UNKNOWN =
  'Of many messages in a row the upstream did not say whether it took them: look at what answers there, then resume, and retry the failed'

/** Why a broadcast pauses after this delivery; null if it goes on. */
export function pauseReason(delivery: Delivery): string | null {
  switch (delivery.result) {
    case 'refused': {
      const stopping = STOPPING.get(delivery.code)
      if (stopping !== undefined) return `${stopping}: ${delivery.text}`
      return delivery.because === 'credentials' ? `The upstream refused the access token: ${delivery.text}` : null
    }
    case 'unavailable':
    case 'limited':
      // The limit per recipient does not affect other recipients.
      if (delivery.result === 'limited' && delivery.limit === 'pair') return null
      return `The upstream has taken no messages for a while: ${delivery.text}`
    default:
      return null
  }
}
