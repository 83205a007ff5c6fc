/**
 * SQL: since when data of the organization `o` is kept if it is pruned at `$1`, as a time and as an id. Ids are ordered
 * by the time of their creation (lib/bytes/id).
 */
export const KEPT_SINCE = `($1::timestamptz - o.retention_days * interval '1 day')`
export const KEPT_SINCE_ID = `rpad(lpad(to_hex(floor(extract(epoch FROM ${KEPT_SINCE}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`
