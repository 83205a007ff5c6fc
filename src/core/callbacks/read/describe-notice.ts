import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import { readTimestamp } from '../../../lib/text/timestamp.js'
import type { Notice, Severity } from '../../../model/organizations/notice.js'
import type { Restriction } from '../../../model/organizations/restriction.js'
import { type Sentence, sentence, toEnglish } from '../../../model/sentence.js'

/** What a report of the upstream means for the organization. */
export interface NoticeDescription {
  kind: string | null
  severity: Severity
  title: string
  advice: string | null
  /** When it ends on its own. */
  until: Date | null
  /** What the account may not send from now on; null: it says nothing about that. */
  restrictions: Restriction[] | null
}

/** The sentences of a notice; null if the upstream wrote the text itself, or there is none. */
export interface NoticeSentences {
  title: Sentence | null
  advice: Sentence | null
}

const MAX_KIND = 100
const MAX_TITLE = 500
const MAX_RESTRICTIONS = 20

const APPEAL = sentence('advice_appeal', {})
const LOOK = sentence('advice_look', {})

/** Describes what a field reports about the account or a number. Never throws. */
export function describeNotice(field: string, value: JsonObject): NoticeDescription {
  const { title, advice, ...described } = describe(field, value)
  return {
    ...described,
    title: beginningOf(toEnglish(title), MAX_TITLE),
    advice: advice && toEnglish(advice),
  }
}

/** The title and advice of a field that is not known. */
export function describeUnknown(field: string): { title: string; advice: string } {
  const { title, advice } = sentencesOfUnknown(field)
  return { title: toEnglish(title), advice: toEnglish(advice) }
}

/** The sentences of a stored notice, for the page's other languages; none if its value was too large to be stored. */
export function sentencesOf({ field, value }: Pick<Notice, 'field' | 'value'>): NoticeSentences {
  if (value === null) return DESCRIBERS.has(field) ? { title: null, advice: null } : sentencesOfUnknown(field)
  const { title, advice } = describe(field, value)
  return { title: typeof title === 'string' ? null : title, advice }
}

function sentencesOfUnknown(field: string) {
  return { title: sentence('notice_unknown', { field }), advice: sentence('advice_unread', {}) }
}

/** As a notice describes it, in sentences; a title that the upstream wrote is a text. */
type Described = Omit<NoticeDescription, 'title' | 'advice'> & { title: Sentence | string; advice: Sentence | null }

function describe(field: string, value: JsonObject): Described {
  const kind =
    word(value.event) ?? word(value.decision) ?? word(asObject(value.alert_info).alert_type) ?? word(value.status)
  const defaults = { severity: 'info', advice: null, until: null, restrictions: null } as const
  const title = sentence('notice', { what: kind ?? field })
  return { kind, title, ...defaults, ...DESCRIBERS.get(field)?.(value, kind) }
}

type Description = Partial<Omit<Described, 'kind'>>

const DESCRIBERS = new Map<string, (value: JsonObject, kind: string | null) => Description>([
  ['account_update', describeAccount],
  ['account_alerts', describeAlert],
  ['account_review_update', describeReview],
  ['business_capability_update', describeLimit],
  ['phone_number_quality_update', describeQuality],
  ['phone_number_name_update', describeName],
  ['business_username_updates', describeUsername],
  ['account_settings_update', () => ({ title: sentence('notice_call_settings', {}) })],
  ['security', describeSecurity],
  ['flows', describeForm],
])

function describeAccount(value: JsonObject, kind: string | null): Description {
  switch (kind) {
    case 'ACCOUNT_RESTRICTION':
      return describeRestriction(asObjects(value.restriction_info))
    case 'ACCOUNT_VIOLATION': {
      const type = word(asObject(value.violation_info).violation_type)
      return { severity: 'warning', title: sentence('notice_violation', { after: after(type) }), advice: APPEAL }
    }
    case 'DISABLED_UPDATE':
      return describeBan(asObject(value.ban_info))
    case 'ACCOUNT_DELETED':
      return stopped('ACCOUNT_DELETED', sentence('notice_deleted', {}), sentence('advice_connect_other', {}))
    case 'ACCOUNT_OFFBOARDED':
    case 'PARTNER_REMOVED': {
      const reason = word(asObject(value.disconnection_info).reason)
      const title = sentence('notice_disconnected', { after: after(reason) })
      // The upstream reports a disconnection and the new connection in any order, so nothing is stopped.
      return { severity: 'critical', title, advice: sentence('advice_connect_again', {}) }
    }
    case 'ACCOUNT_RECONNECTED':
      return { title: sentence('notice_reconnected', {}) }
    default:
      return {}
  }
}

/** The restrictions of messages; others are about numbers, calls, or some templates only. */
const RESTRICTIONS = new Map<string, Restriction['of']>([
  ['RESTRICTED_BIZ_INITIATED_MESSAGING', 'templates'],
  ['RESTRICTED_CUSTOMER_INITIATED_MESSAGING', 'answers'],
])

function describeRestriction(restrictions: JsonObject[]): Description {
  const known = restrictions.slice(0, MAX_RESTRICTIONS)
  const types = known.flatMap(({ restriction_type }) => word(restriction_type) ?? [])
  const ends = known.flatMap(({ expiration }) => readEnd(expiration)?.getTime() ?? [])
  const restricted = known.flatMap(({ restriction_type, expiration }) => {
    const name = word(restriction_type) ?? ''
    const of = RESTRICTIONS.get(name)
    return of ? [{ of, name, until: readEnd(expiration)?.toISOString() ?? null }] : []
  })
  return {
    severity: 'critical',
    title: nameRestriction(new Set(restricted.map(({ of }) => of)), types.join(', ')),
    advice: sentence('advice_refused', {}),
    until: ends.length === 0 ? null : new Date(Math.max(...ends)),
    restrictions: restricted,
  }
}

/** `of`: what cannot be sent; nothing if the restriction is about numbers or calls. */
function nameRestriction(of: ReadonlySet<Restriction['of']>, types: string): Sentence {
  if (of.size === 0) return sentence('notice_restricted', { after: after(types) })
  if (of.size > 1) return sentence('notice_restricted_all', { types })
  return sentence(of.has('templates') ? 'notice_restricted_templates' : 'notice_restricted_answers', { types })
}

/** Unix seconds, or a date as text. */
function readEnd(expiration: unknown): Date | null {
  const read = readTimestamp(expiration) ?? new Date(asText(expiration) ?? Number.NaN)
  return Number.isNaN(read.getTime()) ? null : read
}

function describeBan({ waba_ban_state: state, waba_ban_date: date }: JsonObject): Description {
  if (state === 'REINSTATE') return { title: sentence('notice_reinstated', {}), restrictions: [] }
  if (state === 'DISABLE') return stopped('DISABLE', sentence('notice_disabled', {}), APPEAL)
  const title = sentence('notice_will_disable', { after: after(word(date)) })
  return { severity: 'critical', title, advice: APPEAL }
}

function stopped(name: string, title: Sentence, advice: Sentence): Description {
  return { severity: 'critical', title, advice, restrictions: [{ of: 'all', name, until: null }] }
}

const ALERTS: Record<string, Severity> = { CRITICAL: 'critical', WARNING: 'warning', INFORMATIONAL: 'info' }

function describeAlert({ alert_info }: JsonObject, kind: string | null): Description {
  const { alert_severity, alert_status, alert_description } = asObject(alert_info)
  const name = word(alert_severity) ?? ''
  const isOver = alert_status === 'NONE'
  const severity = !isOver && Object.hasOwn(ALERTS, name) ? ALERTS[name] : 'info'
  const title = asText(alert_description) ?? sentence('notice_alert', { after: after(kind) })
  return { severity: severity ?? 'info', title, advice: isOver ? null : LOOK }
}

function describeReview(_value: JsonObject, kind: string | null): Description {
  if (kind === 'REJECTED') {
    return { severity: 'critical', title: sentence('notice_rejected', {}), advice: APPEAL }
  }
  return { title: sentence('notice_reviewed', { after: after(kind) }) }
}

function describeLimit(value: JsonObject): Description {
  const limit = value.max_daily_conversations_per_business ?? value.max_daily_conversation_per_phone
  if (typeof limit !== 'number' && typeof limit !== 'string') return {}
  return { title: sentence('notice_limit', { limit }) }
}

function describeQuality(value: JsonObject, kind: string | null): Description {
  const number = numberOf(value)
  if (kind === 'FLAGGED') {
    const advice = sentence('advice_send_less', {})
    return { severity: 'warning', title: sentence('notice_quality', { number }), advice }
  }
  return kind === 'THROUGHPUT_UPGRADE' ? { title: sentence('notice_faster', { number }) } : {}
}

function describeName(value: JsonObject, kind: string | null): Description {
  const name = word(value.requested_verified_name) ?? ''
  if (kind === 'APPROVED') return { title: sentence('notice_name_approved', { name }) }
  if (kind !== 'REJECTED') return {}
  const title = sentence('notice_name_rejected', { name, after: after(word(value.rejection_reason)) })
  return { severity: 'warning', title, advice: sentence('advice_other_name', {}) }
}

function describeUsername(value: JsonObject, kind: string | null): Description {
  const reported = [word(value.username), kind].filter((text) => text !== null).join(', ')
  return { title: sentence('notice_username', { number: numberOf(value), after: after(reported) }) }
}

function describeSecurity(value: JsonObject, kind: string | null): Description {
  const number = numberOf(value)
  if (kind === 'PIN_RESET_REQUEST') {
    const advice = sentence('advice_access', {})
    return { severity: 'warning', title: sentence('notice_pin_reset', { number }), advice }
  }
  return kind === 'PIN_CHANGED' ? { severity: 'warning', title: sentence('notice_pin_changed', { number }) } : {}
}

function describeForm(value: JsonObject): Description {
  const isTroubled =
    value.alert_state === 'ACTIVATED' || ['THROTTLED', 'BLOCKED'].includes(word(value.new_status) ?? '')
  const title = asText(value.message)
  return { severity: isTroubled ? 'warning' : 'info', ...(title !== null && { title }) }
}

function numberOf({ display_phone_number }: JsonObject): string {
  return word(display_phone_number) ?? '?'
}

/** Details at the end of a sentence. */
function after(details: string | null): string {
  return details ? `: ${details}` : ''
}

function word(value: unknown): string | null {
  const text = asText(value)
  return text && beginningOf(text, MAX_KIND)
}
