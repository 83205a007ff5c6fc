import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import type { Refused } from '../../../upstream/connecting/ask.js'
import type { NumberReading } from '../../../upstream/connecting/number-state.js'
import { type Asking, found, foundError, type NumberCredentials } from './findings.js'
import { judgeRegistered } from './judge-number.js'

/** The errors of a registration that have a cure of their own. */
const REASONS = {
  133005: 'pin_wrong',
  133006: 'number_unverified',
  133008: 'pin_blocked',
  133009: 'pin_blocked',
  133015: 'registration_too_soon',
  133016: 'registration_blocked',
} as const
/** The subcode of a display name that is not processed yet. */
const NAME_NOT_READY = 2_388_001

/**
 * Registers a number that is not, with one attempt, if a PIN was given. Only a status that was read counts: a number
 * whose state is not known is never registered.
 */
export async function registerIfNeeded(
  { upstream: { connecting }, callMs }: Asking,
  number: NumberReading,
  credentials: NumberCredentials,
  pin: string | undefined,
): Promise<StepFinding> {
  const registered = judgeRegistered(number)
  const needsAgain = registered?.reason === 'registered_right' && number.newNameStatus === 'APPROVED'
  if (registered && !needsAgain) return registered
  if (pin === undefined) {
    const asks = needsAgain ? found('name_needs_registration') : found('pin_missing', { status: number.status ?? '–' })
    return { ...asks, field: 'pin' }
  }
  const asked = await connecting.registerNumber(credentials, pin, callMs())
  switch (asked.outcome) {
    case 'done':
      return found('registered_now')
    case 'refused':
      return foundError(reasonOf(asked), asked)
    case 'failed':
      return foundError('registration_unavailable', asked)
  }
}

function reasonOf({ code, subcode }: Refused) {
  if (subcode === NAME_NOT_READY) return 'registration_needs_name'
  return REASONS[code as keyof typeof REASONS] ?? 'registration_refused'
}
