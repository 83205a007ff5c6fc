import type { JobDelivery } from '../messages/send/deliver.js'

/** The upstream's error codes that every further message would get too. */
const STOPPING = new Map<number | string, string>([
  [368, 'WhatsApp has blocked the account for a policy violation'],
  [131031, 'WhatsApp has locked the account'],
  [131037, "The number's display name is not approved"],
  [131042, 'WhatsApp has no valid payment method for the account'],
  [131045, 'The number is not registered with WhatsApp'],
  [131048, 'WhatsApp is limiting messages from this number because too many were reported as spam'],
  [132001, 'The template no longer exists or is not approved'],
  [132015, 'WhatsApp has paused the template because of its low quality'],
  [132016, 'WhatsApp has disabled the template because of its low quality'],
])

export const TOO_MANY_UNKNOWN =
  'Many messages in a row have an unknown outcome: check the connection to WhatsApp, then resume and retry the failed recipients'

/** Why a broadcast pauses after this delivery; null if it continues. */
export function pauseReason(delivery: JobDelivery): string | null {
  switch (delivery.result) {
    case 'refused': {
      const stopping = STOPPING.get(delivery.code)
      if (stopping !== undefined) return `${stopping}: ${delivery.text}`
      return delivery.because === 'credentials' ? `WhatsApp refused the access token: ${delivery.text}` : null
    }
    case 'unavailable':
    case 'limited':
      // The limit per recipient does not affect other recipients.
      if (delivery.result === 'limited' && delivery.limit === 'pair') return null
      return `WhatsApp has not accepted messages for a while: ${delivery.text}`
    default:
      return null
  }
}
