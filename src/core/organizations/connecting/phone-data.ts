import type { Context } from '../../../context.js'
import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import { findPhoneData, keepPhoneData } from '../../../storage/numbers/number-states.js'
import type { PhoneData } from '../../../upstream/connecting/phone-data.js'
import { type Asking, found, foundError, type NumberCredentials } from './findings.js'

/** In the order in which the upstream wants to be asked. */
const TYPES: readonly PhoneData[] = ['smb_app_state_sync', 'history']
/** A number that is connected anew later than this may be asked again. */
const ASKED_MS = 24 * 60 * 60 * 1_000

/**
 * Asks for the contacts and messages of the phone of a number, once each; what was asked for is stored with the
 * upstream's id of the request. `isNew`: the number is being connected with another token.
 */
export async function askForPhoneData(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  { upstream, callMs }: Asking,
  { credentials: { phoneNumberId, accessToken }, isNew }: { credentials: NumberCredentials; isNew: boolean },
): Promise<StepFinding> {
  const known = await findPhoneData(database, organizationId, phoneNumberId)
  const isOld = known !== null && clock().getTime() - Date.parse(known.at) > ASKED_MS
  const before = isNew && isOld ? {} : (known?.requests ?? {})
  const requests = { ...before }
  let finding: StepFinding | null = null
  for (const type of TYPES.filter((one) => before[one] === undefined)) {
    const asked = await upstream.connecting.requestPhoneData({ phoneNumberId, accessToken }, type, callMs())
    if (asked.outcome === 'done') requests[type] = asked.requestId
    else finding ??= foundError(asked.outcome === 'refused' ? 'phone_data_refused' : 'phone_data_unavailable', asked)
  }
  if (Object.keys(requests).length > Object.keys(before).length) {
    await keepPhoneData(database, organizationId, phoneNumberId, { requests, at: clock().toISOString() })
  }
  return finding ?? found('phone_data_asked', { ids: TYPES.flatMap((type) => requests[type] ?? []).join(', ') })
}
