import { awaitsImport } from './waiting-histories.js'

// What is older is deleted, and counted by a preview. NULL, with which every comparison fails: everything is kept.

const keptSince = (days: string) =>
  `(CASE WHEN o.legal_hold IS NULL THEN $2::timestamptz - ${days} * interval '1 day' END)`

const toId = (time: string) =>
  `rpad(lpad(to_hex(floor(extract(epoch FROM ${time}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`

/**
 * SQL: since when raw callbacks, events and deliveries of the organization `o` are kept if they are pruned at `$2`, as
 * a time and as an id. Ids are ordered by the time of their creation (lib/bytes/id).
 */
export const KEPT_SINCE = keptSince('o.retention_days')
export const KEPT_SINCE_ID = toId(KEPT_SINCE)

/**
 * SQL: whether the raw callback `c` of the organization `o` is to be deleted at `$2`: an old one that is processed, or
 * that failed for good so long ago. One whose history is not taken in is kept.
 */
export const IS_OLD_CALLBACK = `c.id < ${KEPT_SINCE_ID} AND NOT c.waiting AND NOT ${awaitsImport('o.id')} AND NOT EXISTS (
         SELECT FROM set_aside_callbacks s WHERE s.organization_id = o.id AND s.callback_id = c.id
           AND (s.failed_at IS NULL OR s.failed_at >= ${KEPT_SINCE})
       )`

/** SQL: whether the event `e` of the organization `o` is to be deleted at `$2`. */
export const IS_OLD_EVENT = `e.created_at < ${KEPT_SINCE}`

/** SQL: whether the delivery `d` of the organization `o` is to be deleted at `$2`: an old one that has ended. */
export const IS_OLD_DELIVERY = `d.id < ${KEPT_SINCE_ID} AND d.status <> 'pending'`

/** SQL: since when messages of the organization `o` are kept at `$2`. */
export const MESSAGES_KEPT_SINCE = keptSince('o.message_retention_days')

/** SQL: whether the message `m` of the organization `o` is to be deleted at `$2`. One that is outstanding never is. */
export const IS_OLD_MESSAGE = `m.recorded_at < ${MESSAGES_KEPT_SINCE} AND m.outcome IS NULL`

// A file goes before its message. LEAST leaves out NULL.
const FILES_KEPT_SINCE = keptSince('least(o.media_retention_days, o.message_retention_days)')

/** SQL: an id below which the ids of all old files of the organization `o` at `$2` are. */
export const OLD_FILES_BEFORE = toId(FILES_KEPT_SINCE)

/** SQL: whether the file of the message `m` is to be removed at `$2`. */
export const HAS_OLD_FILE = `m.recorded_at < ${FILES_KEPT_SINCE} AND m.outcome IS NULL`
