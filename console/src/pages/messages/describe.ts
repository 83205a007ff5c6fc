import type { TFunction } from 'i18next'
import type { TraceEntry } from '../../../../src/model/messages/trace.js'
import type { Format } from '../../shared/format.js'

type T = TFunction<'trace'>

/** What an entry says, in the page's language. */
export function headingOf(entry: TraceEntry, t: T): string {
  const status = statusName(entry.status, t)
  switch (entry.kind) {
    case 'waited':
      return t(`kinds.waited.${entry.reason ?? 'retry'}`)
    case 'called':
      return t(`kinds.called.${(entry.outcome ?? 'unknown') as 'unknown'}`)
    case 'file_fetched':
      return t(`kinds.file_fetched.${(entry.outcome ?? 'missing') as 'missing'}`)
    case 'changed':
      return t(`kinds.changed.${(entry.change ?? 'edit') as 'edit'}`)
    case 'callback_received':
      if (entry.status === undefined) return entry.is_new ? t('kinds.callback_received') : t('kinds.callback_repeated')
      return entry.is_new ? t('kinds.callback_status', { status }) : t('kinds.callback_idle', { status })
    case 'status_changed':
      return t('kinds.status_changed', { status })
    case 'delivery_attempted':
      return t('kinds.delivery_attempted', { attempt: entry.attempt ?? 1 })
    default:
      return t(`kinds.${entry.kind}`)
  }
}

/** The name of a status of a message or a delivery. */
export function statusName(status: string | undefined, t: T): string {
  return status === undefined ? '' : t(`status.${status as 'sent'}`)
}

/** How long something took. */
export function durationText(ms: number, t: T, format: Format): string {
  return ms < 1_000
    ? t('milliseconds', { count: ms })
    : t('seconds', { count: Math.round(ms / 100) / 10, formatted: format.number(ms / 1_000) })
}

/** The details of an entry: labels with values. */
export function detailsOf(entry: TraceEntry, t: T, format: Format): [label: string, value: string][] {
  const { by, retry_at, upstream_time, kind, status } = entry
  const isDelivery = kind === 'delivery_created'
  const rows: [string, string | number | undefined | false][] = [
    [t('fields.by'), by && t(`by.${by.type}`, { name: by.name ?? by.id })],
    [t('fields.request_id'), entry.request_id],
    [t('fields.idempotency_key'), entry.idempotency_key],
    [t('fields.event_type'), kind !== 'delivery_attempted' && entry.event_type],
    [t('fields.webhook_host'), entry.webhook_host],
    [t('fields.delivery_status'), isDelivery && statusName(status, t)],
    [t('fields.http_status'), entry.http_status],
    [t('fields.error_code'), entry.error_code],
    [t('fields.text'), entry.text],
    [t('fields.retry_at'), retry_at && format.exactTime(retry_at)],
    [t('fields.upstream_time'), upstream_time && format.dateTime(upstream_time)],
    [t('fields.upstream_request_id'), entry.upstream_request_id],
    [t('fields.callback_id'), entry.callback_id],
  ]
  return rows.flatMap(([label, value]) => (value === undefined || value === false ? [] : [[label, String(value)]]))
}

/** Whether an entry describes a success or a failure; null: neither. */
export function resultOf({ kind, outcome, status, http_status, text }: TraceEntry): 'good' | 'bad' | null {
  switch (kind) {
    case 'called':
    case 'file_fetched':
      return outcome === 'accepted' || outcome === 'stored' ? 'good' : 'bad'
    case 'failure_answered':
    case 'unanswered':
    case 'given_up':
      return 'bad'
    case 'callback_received':
    case 'status_changed':
      return status === 'failed' ? 'bad' : 'good'
    case 'delivery_attempted':
      return text === undefined && http_status !== undefined ? 'good' : 'bad'
    default:
      return null
  }
}
