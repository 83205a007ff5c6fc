import type { TFunction } from 'i18next'
import type { broadcasts } from '../../i18n/en/broadcasts.js'

type Known = keyof typeof broadcasts.pauseReasons

// As in src/model/broadcasts/broadcast.
const KNOWN: Record<string, Known> = { restored: 'restored', late: 'late' }

/** Why a broadcast was paused automatically, in the page's language; what WhatsApp says comes as a sentence. */
export function pauseReason(t: TFunction<'broadcasts'>, reason: string): string {
  const known = KNOWN[reason]
  return known ? t(`pauseReasons.${known}`) : reason
}
