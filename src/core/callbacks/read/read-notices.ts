import { sha256 } from '../../../lib/crypto/signature.js'
import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { describeNotice, describeUnknown, type NoticeDescription } from './describe-notice.js'

/** The fields about the account, and those about one of its numbers. */
const EVENTS = new Map<string, NoticeEvent>([
  ['account_update', 'account.updated'],
  ['account_alerts', 'account.updated'],
  ['account_review_update', 'account.updated'],
  ['business_capability_update', 'account.updated'],
  ['security', 'account.updated'],
  ['flows', 'account.updated'],
  ['payment_configuration_update', 'account.updated'],
  ['phone_number_quality_update', 'number.updated'],
  ['phone_number_name_update', 'number.updated'],
  ['account_settings_update', 'number.updated'],
  ['business_username_updates', 'number.updated'],
])

/** The fields that are about the account or its numbers. */
export const NOTICE_FIELDS: readonly string[] = [...EVENTS.keys()]

export type NoticeEvent = 'account.updated' | 'number.updated'

/** A report about the account or a number, or the name of a field that is not known. */
export interface ReportedNotice extends NoticeDescription {
  field: string
  digest: Buffer
  value: JsonObject | null
  /** As it came. */
  timestamp: unknown
  /** Null for an unknown field. */
  event: NoticeEvent | null
}

const FIELD_NAME = /^\w{1,64}$/
/** Larger values are not stored with the notice; the stored callback has them. */
const MAX_VALUE = 16_384
const MAX_UNKNOWN = 10
/** Each report is recorded by a statement of its own. */
const MAX_REPORTS = 100

/**
 * Reads the reports about the account and its numbers, the first 100 of a callback, and the names of fields that are
 * not `known` (which other modules read). Of those only the name is taken: their values may hold anything, also about
 * people.
 */
export function readNotices(envelope: JsonObject, isKnown: (field: string) => boolean): ReportedNotice[] {
  const changes = asObjects(envelope.entry).flatMap((entry) =>
    asObjects(entry.changes).map((change) => ({
      entry,
      // Two reports of partners have it in another place.
      field: asText(change.field) ?? asText(asObject(change.value).field) ?? asText(entry.field) ?? '',
      value: asObject(change.value),
    })),
  )
  const reported = changes.filter(({ field }) => EVENTS.has(field)).slice(0, MAX_REPORTS)
  const reports = reported.flatMap(({ entry, field, value }) => {
    const event = EVENTS.get(field)
    return event ? [readReport(field, value, entry.time, event)] : []
  })
  const unknown = changes.map(({ field }) => field).filter((field) => !EVENTS.has(field) && !isKnown(field))
  const names = [...new Set(unknown)].filter((field) => FIELD_NAME.test(field)).slice(0, MAX_UNKNOWN)
  return [...reports, ...names.map(readUnknown)]
}

function readReport(field: string, value: JsonObject, time: unknown, event: NoticeEvent): ReportedNotice {
  const text = JSON.stringify(value)
  return {
    ...describeNotice(field, value),
    field,
    digest: sha256(JSON.stringify([field, text, time ?? null])),
    value: text.length <= MAX_VALUE ? value : null,
    timestamp: time ?? value.timestamp,
    event,
  }
}

function readUnknown(field: string): ReportedNotice {
  const digest = sha256(JSON.stringify([field]))
  const common = { field, digest, value: null, timestamp: null, until: null, event: null, restrictions: null }
  return { ...common, kind: null, severity: 'info', ...describeUnknown(field) }
}
