// What is older is deleted. NULL, with which every comparison fails: everything is kept.

const keptSince = (days: string) =>
  `(CASE WHEN o.legal_hold IS NULL THEN $1::timestamptz - o.${days} * interval '1 day' END)`

const toId = (time: string) =>
  `rpad(lpad(to_hex(floor(extract(epoch FROM ${time}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`

/**
 * SQL: since when raw callbacks, events and deliveries of the organization `o` are kept if they are pruned at `$1`, as
 * a time and as an id. Ids are ordered by the time of their creation (lib/bytes/id).
 */
export const KEPT_SINCE = keptSince('retention_days')
export const KEPT_SINCE_ID = toId(KEPT_SINCE)
