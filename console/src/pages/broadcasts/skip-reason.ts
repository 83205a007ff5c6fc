import type { TFunction } from 'i18next'
import type { broadcasts } from '../../i18n/en/broadcasts.js'

type Known = keyof typeof broadcasts.skipReasons

// As in SKIP_REASONS and WAIT_REASONS of src/model/broadcasts/broadcast.
const KNOWN: Record<string, Known> = {
  'not a number': 'notNumber',
  'no such contact': 'noContact',
  duplicate: 'duplicate',
  blocked: 'blocked',
  'opted out': 'optedOut',
  'allow_broadcast is false': 'unwanted',
  'missing value': 'missingValue',
  'no phone number': 'noNumber',
  'contact erased': 'erased',
  cancelled: 'cancelled',
  'broadcast scheduled': 'waitsForStart',
  'broadcast paused': 'waitsForResume',
  'not its turn yet': 'waitsForTurn',
  'limit of messages to this person': 'waitsForLimit',
  'to be sent again': 'waitsForRetry',
  'no outcome yet': 'waitsForOutcome',
}

/** Why a recipient was skipped, or why it waits, in the page's language. */
export function skipReason(t: TFunction<'broadcasts'>, reason: string): string {
  const known = KNOWN[reason]
  return known ? t(`skipReasons.${known}`) : reason
}
