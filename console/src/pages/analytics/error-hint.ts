import type { TFunction } from 'i18next'
import type { analytics } from '../../i18n/en/analytics.js'

type Hinted = keyof typeof analytics.errors.hints

const HINTED: readonly Hinted[] = [
  '131026',
  '131042',
  '131045',
  '131047',
  '131048',
  '131049',
  '131050',
  '131053',
  '130429',
  '130472',
  '130497',
  '131056',
  '132000',
  '132001',
  '132012',
  '132015',
  '132016',
  '368',
  '190',
  'outcome_unknown',
]

/** What to do about failures with this code. Null if there is no advice. */
export function errorHint(t: TFunction<'analytics'>, code: string | number | null): string | null {
  const known = HINTED.find((hinted) => hinted === String(code))
  return known ? t(`errors.hints.${known}`) : null
}
