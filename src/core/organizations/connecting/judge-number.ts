import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import type { Asked } from '../../../upstream/connecting/ask.js'
import type { NumberReading } from '../../../upstream/connecting/number-state.js'
import { found, foundError, type NumberCredentials } from './findings.js'

/** The words of the upstream for a name that people see. */
const GOOD_NAMES = new Set(['APPROVED', 'AVAILABLE_WITHOUT_REVIEW'])
const LOW_QUALITY = new Set(['RED', 'YELLOW', 'FLAGGED'])
const UNRATED = new Set(['NA', 'UNKNOWN'])
/** The statuses of a number that is registered; it can be of low quality, or at its limit, for a while. */
const REGISTERED = new Set(['CONNECTED', 'FLAGGED', 'RATE_LIMITED'])
const UNREGISTERED = new Set(['PENDING', 'UNVERIFIED', 'DISCONNECTED', 'DELETED', 'MIGRATED'])

/** Which number it is, and whether the token opens it. */
export function judgeFound(
  read: Asked<{ number: NumberReading }>,
  { phoneNumberId, businessAccountId: account }: Pick<NumberCredentials, 'phoneNumberId' | 'businessAccountId'>,
): StepFinding {
  if (read.outcome === 'refused') return foundError('number_refused', read, { number: phoneNumberId })
  if (read.outcome === 'failed') return foundError('number_unavailable', read)
  const { display, name, mode } = read.number
  const number = display ?? phoneNumberId
  return mode === 'SANDBOX'
    ? found('test_number', { number })
    : found('number_found', { number, name: name ?? '–', account })
}

/** Name, quality and health of a number. What the upstream does not say is no finding. */
export function judgeNumber(number: NumberReading): StepFinding[] {
  return [...judgeName(number), ...judgeQuality(number), ...judgeHealth(number)]
}

/** Whether the number is registered: null if it is not, and its status is known. */
export function judgeRegistered({ status, mode, isOnPhoneApp, platform }: NumberReading): StepFinding | null {
  if (status !== null && REGISTERED.has(status)) return found('registered_right', { status })
  if (status === 'RESTRICTED') return found('number_restricted')
  if (status === 'BANNED') return found('number_banned')
  if (mode === 'SANDBOX' || (isOnPhoneApp && platform === 'CLOUD_API')) {
    return found('registered_right', { status: status ?? mode ?? 'CLOUD_API' })
  }
  return status !== null && UNREGISTERED.has(status) ? null : found('registered_unread')
}

/** The name that people see; a new one takes its place when it is approved. */
function judgeName({ nameStatus: word, newNameStatus, name: shown }: NumberReading): StepFinding[] {
  if (word === null || word === 'NONE') return []
  const name = shown ?? '–'
  if (GOOD_NAMES.has(word)) {
    if (newNameStatus === 'PENDING_REVIEW') return [found('new_name_in_review', { name })]
    return [found(newNameStatus === 'DECLINED' ? 'new_name_declined' : 'name_approved', { name })]
  }
  if (word === 'PENDING_REVIEW') return [found('name_in_review')]
  return [word === 'DECLINED' ? found('name_declined') : found('name_other', { status: word })]
}

function judgeQuality({ quality, status }: NumberReading): StepFinding[] {
  if (status === 'FLAGGED') return [found('quality_low', { quality: status })]
  if (quality === null || UNRATED.has(quality)) return []
  return [LOW_QUALITY.has(quality) ? found('quality_low', { quality }) : found('quality_good', { quality })]
}

/** `can_send_message` decides: some errors are about calls only. */
function judgeHealth({ canSend, health }: NumberReading): StepFinding[] {
  if (canSend === null) return []
  if (canSend === 'AVAILABLE') return [found('health_good')]
  const isBlocked = canSend === 'BLOCKED'
  const entities = health.filter((entity) => entity.canSend !== 'AVAILABLE')
  const why = entities.map(({ type, errors, notes }) => {
    const texts = errors.map(({ code, description, solution }) =>
      [code === null ? description : `${description} (${code})`, solution].filter((text) => text !== '').join(' '),
    )
    return `${type}: ${[...texts, ...notes].join(' ') || canSend}`
  })
  const code = entities.flatMap(({ errors }) => errors.flatMap((error) => error.code ?? []))[0]
  const finding = found(isBlocked ? 'health_blocked' : 'health_limited', { why: why.join('; ') || canSend })
  return [code === undefined ? finding : { ...finding, upstreamCode: code }]
}
