import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import { readTimestamp } from '../../../lib/text/timestamp.js'
import type { Severity } from '../../../model/organizations/notice.js'

/** What a report of the upstream means for the organization. */
export interface NoticeDescription {
  kind: string | null
  severity: Severity
  title: string
  advice: string | null
  /** When it ends on its own. */
  until: Date | null
  /** Whether templates would only fail from now on. */
  stopsBroadcasts: boolean
}

const MAX_KIND = 100
const MAX_TITLE = 500
const MAX_RESTRICTIONS = 20

const SUPPORT = 'Open the account in WhatsApp Manager, and ask for a review there if it is wrong.'

/** Describes what a field reports about the account or a number. Never throws. */
export function describeNotice(field: string, value: JsonObject): NoticeDescription {
  const kind =
    word(value.event) ?? word(value.decision) ?? word(asObject(value.alert_info).alert_type) ?? word(value.status)
  const described = DESCRIBERS.get(field)?.(value, kind) ?? {}
  const title = described.title ?? `WhatsApp reports ${kind ?? field}`
  const defaults = { severity: 'info', advice: null, until: null, stopsBroadcasts: false } as const
  return { kind, ...defaults, ...described, title: beginningOf(title, MAX_TITLE) }
}

type Description = Partial<Omit<NoticeDescription, 'kind'>>

const DESCRIBERS = new Map<string, (value: JsonObject, kind: string | null) => Description>([
  ['account_update', describeAccount],
  ['account_alerts', describeAlert],
  ['account_review_update', describeReview],
  ['business_capability_update', describeLimit],
  ['phone_number_quality_update', describeQuality],
  ['phone_number_name_update', describeName],
  ['business_username_updates', describeUsername],
  ['account_settings_update', () => ({ title: 'The settings of calls were changed' })],
  ['security', describeSecurity],
  ['flows', describeForm],
])

function describeAccount(value: JsonObject, kind: string | null): Description {
  switch (kind) {
    case 'ACCOUNT_RESTRICTION':
      return describeRestriction(asObjects(value.restriction_info))
    case 'ACCOUNT_VIOLATION': {
      const type = word(asObject(value.violation_info).violation_type) ?? 'of a policy'
      return { severity: 'warning', title: `WhatsApp reports a violation: ${type}`, advice: SUPPORT }
    }
    case 'DISABLED_UPDATE':
      return describeBan(asObject(value.ban_info))
    case 'ACCOUNT_DELETED':
      return stopped('The account was deleted', 'Connect another account.')
    case 'ACCOUNT_OFFBOARDED':
    case 'PARTNER_REMOVED': {
      const reason = word(asObject(value.disconnection_info).reason)
      const title = `The number is not connected any more${reason === null ? '' : `: ${reason}`}`
      // The upstream reports a disconnection and the new connection in any order, so nothing is stopped.
      return { severity: 'critical', title, advice: 'If you did not connect it again since, connect it again.' }
    }
    case 'ACCOUNT_RECONNECTED':
      return { title: 'The number is connected again' }
    default:
      return {}
  }
}

const TEMPLATES_RESTRICTED = 'RESTRICTED_BIZ_INITIATED_MESSAGING'

function describeRestriction(restrictions: JsonObject[]): Description {
  const known = restrictions.slice(0, MAX_RESTRICTIONS)
  const types = known.flatMap(({ restriction_type }) => word(restriction_type) ?? [])
  const ends = known.flatMap(({ expiration }) => readTimestamp(expiration)?.getTime() ?? [])
  const title = `WhatsApp has restricted the account: ${types.join(', ') || 'it does not say how'}`
  return {
    severity: 'critical',
    title,
    advice: `Until it ends, what it names is refused. ${SUPPORT}`,
    until: ends.length === 0 ? null : new Date(Math.max(...ends)),
    stopsBroadcasts: types.includes(TEMPLATES_RESTRICTED),
  }
}

function describeBan({ waba_ban_state: state, waba_ban_date: date }: JsonObject): Description {
  if (state === 'REINSTATE') return { title: 'WhatsApp has reinstated the account' }
  if (state === 'DISABLE') return stopped('WhatsApp has disabled the account', SUPPORT)
  const when = word(date)
  return {
    severity: 'critical',
    title: `WhatsApp will disable the account${when === null ? '' : ` on ${when}`}`,
    advice: SUPPORT,
  }
}

function stopped(title: string, advice: string): Description {
  return { severity: 'critical', title, advice, stopsBroadcasts: true }
}

const ALERTS: Record<string, Severity> = { CRITICAL: 'critical', WARNING: 'warning', INFORMATIONAL: 'info' }

function describeAlert({ alert_info }: JsonObject, kind: string | null): Description {
  const { alert_severity, alert_status, alert_description } = asObject(alert_info)
  const name = word(alert_severity) ?? ''
  const isOver = alert_status === 'NONE'
  const severity = !isOver && Object.hasOwn(ALERTS, name) ? ALERTS[name] : 'info'
  const title = asText(alert_description) ?? `WhatsApp alerts: ${kind ?? 'it does not say of what'}`
  return { severity: severity ?? 'info', title, advice: isOver ? null : 'Open the account in WhatsApp Manager.' }
}

function describeReview(_value: JsonObject, kind: string | null): Description {
  if (kind === 'REJECTED') {
    return { severity: 'critical', title: 'WhatsApp has rejected the account', advice: SUPPORT }
  }
  return { title: `WhatsApp has reviewed the account: ${kind ?? 'it does not say the result'}` }
}

function describeLimit(value: JsonObject): Description {
  const limit = value.max_daily_conversations_per_business ?? value.max_daily_conversation_per_phone
  if (typeof limit !== 'number' && typeof limit !== 'string') return {}
  return { title: `The limit of conversations that may be begun in a day is now ${limit}` }
}

function describeQuality(value: JsonObject, kind: string | null): Description {
  const number = numberOf(value)
  if (kind === 'FLAGGED') {
    const advice = 'Send less, and only to people who expect it: the limit of the number may be lowered.'
    return { severity: 'warning', title: `The quality of ${number} is low`, advice }
  }
  return kind === 'THROUGHPUT_UPGRADE' ? { title: `${number} may send faster now` } : {}
}

function describeName(value: JsonObject, kind: string | null): Description {
  const name = word(value.requested_verified_name) ?? ''
  if (kind === 'APPROVED') return { title: `WhatsApp has approved the name "${name}"` }
  if (kind !== 'REJECTED') return {}
  const reason = word(value.rejection_reason)
  const title = `WhatsApp has rejected the name "${name}"${reason === null ? '' : `: ${reason}`}`
  return { severity: 'warning', title, advice: 'Choose another name in WhatsApp Manager.' }
}

function describeUsername(value: JsonObject, kind: string | null): Description {
  const username = word(value.username)
  return {
    title: `The username of ${numberOf(value)}${username === null ? '' : ` (${username})`}: ${kind ?? 'changed'}`,
  }
}

function describeSecurity(value: JsonObject, kind: string | null): Description {
  if (kind === 'PIN_RESET_REQUEST') {
    const advice = 'If nobody of your team did, look at who has access to the account.'
    return { severity: 'warning', title: `Somebody asked to turn off the PIN of ${numberOf(value)}`, advice }
  }
  return kind === 'PIN_CHANGED' ? { severity: 'warning', title: `The PIN of ${numberOf(value)} was changed` } : {}
}

function describeForm(value: JsonObject): Description {
  const isTroubled =
    value.alert_state === 'ACTIVATED' || ['THROTTLED', 'BLOCKED'].includes(word(value.new_status) ?? '')
  const title = asText(value.message)
  return { severity: isTroubled ? 'warning' : 'info', ...(title !== null && { title }) }
}

function numberOf({ display_phone_number }: JsonObject): string {
  return word(display_phone_number) ?? 'the number'
}

function word(value: unknown): string | null {
  const text = asText(value)
  return text && beginningOf(text, MAX_KIND)
}
