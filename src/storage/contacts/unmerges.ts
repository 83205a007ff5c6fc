import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { ListedMerge } from '../../model/contacts/merge.js'
import { MESSAGE_OF_EVENT } from '../events/message-rows.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { lockFeed } from '../webhooks/feeds.js'
import { addAddresses, showNewestUserId } from './addresses.js'
import { CONTACT_COLUMNS, listContacts, searchUsernames } from './contacts.js'
import { ATTEMPTS_WITHOUT_ANSWERS } from './erasure.js'

/** A merge that is being undone, with the kept contact locked. */
export interface UndoneMerge {
  id: string
  kept_id: string
  gone_id: string
  /** Whether the kept contact took in another one later. */
  has_later: boolean
  /** The kept contact as it was: its chat id, and whether that still leads to it alone. */
  kept_chat_id: string
  kept_phone_number: string | null
  has_kept_chat_id: boolean
  gone_chat_id: string
  gone_phone_number: string | null
  has_gone_chat_id: boolean
  /** Of the kept contact: its messages up to this number were deleted by their age. */
  pruned_seq: number
  /** How many messages move back, and how many came after the merge. */
  moved: number
  later: number
}

/** The chat id and the number of each contact after the undo. */
export interface SplitAddresses {
  kept: Pick<Contact, 'chat_id' | 'phone_number'>
  gone: Pick<Contact, 'chat_id' | 'phone_number'>
}

const list = statement<ListedMerge>(
  'unmerges.list',
  `SELECT id, gone_id, cause, merged_at, gone ->> 'full_name' AS full_name, gone ->> 'phone_number' AS phone_number,
     gone ->> 'chat_id' AS chat_id, gone ->> 'user_id' AS user_id, gone ->> 'username' AS username, (last_seq - first_seq + 1)::float8 AS messages
   FROM contact_merges
   WHERE organization_id = $1 AND kept_id = $2 AND undone_at IS NULL AND merged_at > $3
   ORDER BY merged_at DESC, id DESC
   LIMIT 100`,
)

const lockKept = statement<{ id: string }>(
  'unmerges.lockKept',
  `SELECT c.id FROM contact_merges m JOIN contacts c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.kept_id
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2
   FOR UPDATE OF c`,
)

// An address of the contact that is gone belongs to it again only if it still leads to the kept one.
const read = statement<UndoneMerge>(
  'unmerges.read',
  `SELECT m.id, m.kept_id, m.gone_id, EXISTS (
       SELECT FROM contact_merges l
       WHERE l.organization_id = $1 AND l.kept_id = m.kept_id AND l.undone_at IS NULL
         AND (l.merged_at, l.id) > (m.merged_at, m.id)
     ) AS has_later,
     m.kept ->> 'chat_id' AS kept_chat_id, m.kept ->> 'phone_number' AS kept_phone_number,
     NOT m.kept ->> 'chat_id' = ANY (m.addresses) AND EXISTS (
       SELECT FROM contact_addresses a
       WHERE ${ofOrganization('a.organization_id', '$1::uuid')} AND a.address = m.kept ->> 'chat_id' AND a.contact_id = m.kept_id
     ) AS has_kept_chat_id,
     m.gone ->> 'chat_id' AS gone_chat_id, m.gone ->> 'phone_number' AS gone_phone_number, EXISTS (
       SELECT FROM contact_addresses a
       WHERE ${ofOrganization('a.organization_id', '$1::uuid')} AND a.address = m.gone ->> 'chat_id' AND a.contact_id = m.kept_id
     ) AS has_gone_chat_id, c.pruned_seq,
     m.last_seq - m.first_seq + 1 AS moved, c.last_seq - m.last_seq AS later
   FROM contact_merges m JOIN contacts c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.kept_id
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND m.undone_at IS NULL AND m.merged_at > $3`,
)

/** How far a number `seq` of the kept conversation falls, because messages before it move back. */
const drop = (seq: string) => `least(greatest(${seq} - m.first_seq + 1, 0), m.last_seq - m.first_seq + 1)`
const MERGE = `contact_merges m WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2`
/** Whether the kept contact took this from the other one, because it had none. */
const isTheirs = (column: string) => `m.kept ->> '${column}' IS NULL AND c.${column}::text = m.gone ->> '${column}'`
const giveBack = (column: string) => `${column} = CASE WHEN ${isTheirs(column)} THEN NULL ELSE c.${column} END`
/** The later time of both. */
const timeBack = (column: string) =>
  `${column} = CASE WHEN c.${column} = (m.gone ->> '${column}')::timestamptz THEN (m.kept ->> '${column}')::timestamptz
       ELSE c.${column} END`
/** Whether the kept contact shows the username of the other one, which was the newer one. */
const HAS_THEIR_USERNAME = `(c.username = m.gone ->> 'username' AND (m.kept ->> 'username' IS NULL
       OR c.username_at = (m.gone ->> 'username_at')::timestamptz))`

// Opt-outs stay with both contacts: to write to somebody who does not want it is worse than not to write.
const shrinkKept = statement<never>(
  'unmerges.shrinkKept',
  `UPDATE contacts c
   SET chat_id = CASE WHEN c.chat_id = ANY (m.addresses) THEN $3 ELSE c.chat_id END,
     phone_number = CASE WHEN c.chat_id = ANY (m.addresses) THEN $4 ELSE c.phone_number END,
     user_id = CASE WHEN 'user:' || c.user_id = ANY (m.addresses) THEN NULL ELSE c.user_id END,
     parent_user_id = CASE WHEN 'parent:' || c.parent_user_id = ANY (m.addresses) THEN m.kept ->> 'parent_user_id' ELSE c.parent_user_id END,
     ${['full_name', 'folded_name', 'email', 'contact_summary', 'bot_status', 'assignee_id'].map(giveBack).join(', ')},
     contact_summary_updated_at = CASE WHEN ${isTheirs('contact_summary')} THEN (m.kept ->> 'contact_summary_updated_at')::timestamptz
       ELSE c.contact_summary_updated_at END,
     ${['last_inbound_at', 'opted_in_at'].map(timeBack).join(', ')},
     wrote_to = CASE WHEN c.last_inbound_at = (m.gone ->> 'last_inbound_at')::timestamptz THEN (m.kept ->> 'wrote_to')::uuid
       ELSE c.wrote_to END,
     allow_broadcast = c.allow_broadcast
       OR (c.opted_out_at IS NULL AND (m.kept ->> 'allow_broadcast')::boolean AND NOT (m.gone ->> 'allow_broadcast')::boolean),
     has_unread_messages = c.has_unread_messages AND (
       (m.kept ->> 'has_unread_messages')::boolean OR NOT (m.gone ->> 'has_unread_messages')::boolean OR c.last_seq > m.last_seq),
     username = CASE WHEN ${HAS_THEIR_USERNAME} THEN m.kept ->> 'username' ELSE c.username END,
     username_at = CASE WHEN ${HAS_THEIR_USERNAME} THEN (m.kept ->> 'username_at')::timestamptz ELSE c.username_at END,
     tags = ARRAY (
       SELECT tag FROM unnest(c.tags) AS tag WHERE NOT (m.gone -> 'tags' ? tag) OR m.kept -> 'tags' ? tag
     ),
     blocked = c.blocked AND ((m.kept ->> 'blocked')::boolean OR NOT (m.gone ->> 'blocked')::boolean),
     referral_first = CASE WHEN c.referral_first = m.gone -> 'referral_first' THEN nullif(m.kept -> 'referral_first', 'null')
       ELSE c.referral_first END,
     referral_last = CASE WHEN c.referral_last = m.gone -> 'referral_last' THEN nullif(m.kept -> 'referral_last', 'null')
       ELSE c.referral_last END,
     last_seq = c.last_seq - ${drop('c.last_seq')}, pruned_seq = c.pruned_seq - ${drop('c.pruned_seq')},
     searchable_seq = CASE WHEN m.last_seq < m.first_seq THEN c.searchable_seq ELSE least(c.searchable_seq, m.first_seq - 1) END,
     updated_at = now()
   FROM contact_merges m
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2
     AND ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.kept_id`,
)

// Messages that were deleted meanwhile, by their age, are missing from the beginning of the conversation. An opt-out of
// the kept contact may have been that of this person.
const restoreGone = statement<never>(
  'unmerges.restoreGone',
  `WITH m AS (
     SELECT m.gone_id, m.gone, greatest((m.gone ->> 'pruned_seq')::bigint, least($5::bigint, m.last_seq) - m.seq_offset) AS pruned,
       c.opted_out_at, c.opt_out_source, c.opt_out_untold, c.consent_words
     FROM contact_merges m JOIN contacts c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.kept_id
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2
   ), restored AS (
     INSERT INTO contacts (organization_id, id, chat_id, phone_number, network_id, user_id, parent_user_id, username, username_at,
       referral_first, referral_last, full_name, folded_name, email, tags, source, contact_summary,
       contact_summary_updated_at, bot_status, assignee_id, archived, archived_through, blocked, has_unread_messages,
       allow_broadcast, opted_out_at, opt_out_source, opt_out_untold, opted_in_at, consent_words, last_seq, pruned_seq,
       last_inbound_at, wrote_to, created_at)
     SELECT $1, m.gone_id, $3, $4, g.network_id, g.user_id, g.parent_user_id, g.username, g.username_at,
       g.referral_first, g.referral_last, g.full_name, g.folded_name, g.email, g.tags, g.source, g.contact_summary,
       g.contact_summary_updated_at, g.bot_status,
       (SELECT id FROM members WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = g.assignee_id),
       g.archived, g.archived_through, g.blocked, g.has_unread_messages,
       g.allow_broadcast AND m.opted_out_at IS NULL, coalesce(g.opted_out_at, m.opted_out_at), coalesce(g.opt_out_source, m.opt_out_source),
       CASE WHEN g.opted_out_at IS NULL THEN m.opt_out_untold ELSE g.opt_out_untold END,
       g.opted_in_at, CASE WHEN g.opted_out_at IS NULL AND m.opted_out_at IS NOT NULL THEN m.consent_words ELSE g.consent_words END,
       g.last_seq, m.pruned, g.last_inbound_at, g.wrote_to, g.created_at
     FROM m CROSS JOIN LATERAL jsonb_populate_record(NULL::contacts, m.gone) g
     RETURNING *
   ), ${listContacts('restored')}, usernames AS (
     ${searchUsernames('SELECT id, username FROM restored WHERE username IS NOT NULL')}
   ), address AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id) VALUES ($1, $3, (SELECT id FROM restored))
     ON CONFLICT DO NOTHING
   )
   SELECT`,
)

const returnActivity = statement<never>(
  'unmerges.returnActivity',
  `UPDATE contact_activity a SET active_at = coalesce(m.active_at, a.active_at)
   FROM ${MERGE} AND ${ofOrganization('a.organization_id', '$1::uuid')} AND a.contact_id = m.gone_id`,
)

const lowerActivity = statement<never>(
  'unmerges.lowerActivity',
  `UPDATE contact_activity a SET active_at = coalesce(m.kept ->> 'active_at', m.kept ->> 'created_at')::timestamptz
   FROM ${MERGE} AND ${ofOrganization('a.organization_id', '$1::uuid')} AND a.contact_id = m.kept_id AND a.active_at = m.active_at`,
)

const returnUsername = statement<never>(
  'unmerges.returnUsername',
  `WITH kept AS (
     SELECT id, username FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2
   ), forgotten AS (
     DELETE FROM contact_usernames u USING kept
     WHERE ${ofOrganization('u.organization_id', '$1::uuid')} AND u.contact_id = kept.id AND kept.username IS NULL
   )
   ${searchUsernames('SELECT id, username FROM kept WHERE username IS NOT NULL')}`,
)

const returnAddresses = statement<never>(
  'unmerges.returnAddresses',
  `UPDATE contact_addresses a SET contact_id = m.gone_id
   FROM ${MERGE} AND a.organization_id = $1 AND a.contact_id = m.kept_id AND a.address = ANY (m.addresses)`,
)

// What the notice that joined the two ended is valid again, and so are the addresses that both show.
const reopenAddresses = statement<never>(
  'unmerges.reopenAddresses',
  `UPDATE contact_addresses a SET left_at = NULL
   FROM ${MERGE} AND a.organization_id = $1 AND a.contact_id IN ($3, $4) AND a.left_at IS NOT NULL
     AND (a.address IN ($5, $6)
       OR (m.kept -> 'open' ? a.address AND a.left_at = (m.kept ->> 'seen_at')::timestamptz))`,
)

const returnSpans = statement<never>(
  'unmerges.returnSpans',
  `UPDATE contact_address_spans s SET contact_id = m.gone_id
   FROM ${MERGE} AND s.organization_id = $1 AND s.contact_id = m.kept_id AND s.id = ANY (m.spans)`,
)

const returnNumbered = statement<never>(
  'unmerges.returnNumbered',
  `UPDATE messages x SET contact_id = m.gone_id, seq = x.seq - m.seq_offset
   FROM ${MERGE} AND x.organization_id = $1 AND x.contact_id = m.kept_id AND x.seq BETWEEN m.first_seq AND m.last_seq`,
)

const returnUnnumbered = statement<never>(
  'unmerges.returnUnnumbered',
  `UPDATE messages x SET contact_id = m.gone_id
   FROM ${MERGE} AND ${ofOrganization('x.organization_id', '$1::uuid')} AND x.id = ANY (m.unnumbered) AND x.contact_id = m.kept_id`,
)

// Reactions, edits and deletions that came later belong to the message that they are about.
const returnChanges = statement<never>(
  'unmerges.returnChanges',
  `UPDATE messages x SET contact_id = m.gone_id
   FROM ${MERGE} AND x.organization_id = $1 AND x.contact_id = m.kept_id AND x.seq IS NULL AND EXISTS (
     SELECT FROM messages about
     WHERE about.organization_id = $1 AND about.upstream_id = x.context_upstream_id AND about.contact_id = m.gone_id
   )`,
)

/** Beyond twice the numbers of any conversation, which may be below 1. */
const FAR = 1_000_000_000_000

// Numbers are unique, and rows change one by one: from afar, no number meets one that is still there.
const liftLater = statement<never>(
  'unmerges.liftLater',
  `UPDATE messages x SET seq = x.seq + ${FAR}
   FROM ${MERGE} AND x.organization_id = $1 AND x.contact_id = m.kept_id AND x.seq > m.last_seq`,
)

const lowerLater = statement<never>(
  'unmerges.lowerLater',
  `UPDATE messages x SET seq = x.seq - ${FAR} - (m.last_seq - m.first_seq + 1)
   FROM ${MERGE} AND x.organization_id = $1 AND x.contact_id = m.kept_id AND x.seq > ${FAR / 2}`,
)

const deleteWords = statement<never>(
  'unmerges.deleteWords',
  `DELETE FROM message_search s USING ${MERGE} AND s.organization_id = $1 AND s.contact_id = m.kept_id AND s.seq >= m.first_seq`,
)

const returnNotes = statement<never>(
  'unmerges.returnNotes',
  `UPDATE notes n
   SET contact_id = CASE WHEN m.notes ? n.id::text THEN m.gone_id ELSE n.contact_id END,
     after_seq = CASE WHEN m.notes ? n.id::text THEN (m.notes ->> n.id::text)::bigint
       ELSE n.after_seq - ${drop('n.after_seq')} END
   FROM ${MERGE} AND n.organization_id = $1 AND n.contact_id = m.kept_id`,
)

const returnOrders = statement<never>(
  'unmerges.returnOrders',
  `UPDATE storefront_orders o SET contact_id = m.gone_id
   FROM ${MERGE} AND o.organization_id = $1 AND o.contact_id = m.kept_id AND o.id = ANY (m.orders)`,
)

const returnRecipients = statement<never>(
  'unmerges.returnRecipients',
  `UPDATE broadcast_recipients r SET contact_id = m.gone_id
   FROM ${MERGE} AND r.organization_id = $1 AND r.contact_id = m.kept_id
     AND m.recipients @> jsonb_build_array(jsonb_build_object('broadcast_id', r.broadcast_id, 'n', r.n))`,
)

const returnScheduled = statement<never>(
  'unmerges.returnScheduled',
  `UPDATE scheduled_messages s SET contact_id = m.gone_id
   FROM ${MERGE} AND ${ofOrganization('s.organization_id', '$1::uuid')} AND s.id = ANY (m.scheduled) AND s.contact_id = m.kept_id
     AND s.ended_at IS NULL`,
)

// Events from before the merge, and later ones about a message that moves back. Attempts since the merge showed the kept
// contact, whose erasure does not find them any more.
const returnEvents = statement<never>(
  'unmerges.returnEvents',
  `WITH returned AS (
     UPDATE events e SET contact_id = m.gone_id
     FROM ${MERGE} AND e.organization_id = $1 AND e.contact_id = m.kept_id AND (
       e.data -> 'contact' ->> 'id' = m.gone_id::text OR EXISTS (
         SELECT FROM messages x
         WHERE ${ofOrganization('x.organization_id', '$1::uuid')} AND x.id = ${MESSAGE_OF_EVENT} AND x.contact_id = m.gone_id
       )
     )
     RETURNING e.seq
   )
   UPDATE webhook_deliveries d SET attempts = ${ATTEMPTS_WITHOUT_ANSWERS}
   FROM ${MERGE} AND d.organization_id = $1 AND d.event_seq = ANY (ARRAY(SELECT seq FROM returned))
     AND d.attempted_at >= m.merged_at`,
)

// Of each contact, the first delivery must not wait for one of the other contact.
const returnDeliveries = statement<never>(
  'unmerges.returnDeliveries',
  `WITH theirs AS (
     SELECT d.id, e.contact_id, row_number() OVER (
         PARTITION BY d.webhook_id, e.contact_id ORDER BY d.next_attempt_at IS NULL, d.event_seq
       ) AS place
     FROM contact_merges m
     JOIN webhooks w ON w.organization_id = $1
     JOIN webhook_deliveries d ON d.organization_id = w.organization_id AND d.webhook_id = w.id AND d.contact_id = m.kept_id
       AND d.status = 'pending' AND d.in_order
     JOIN events e ON e.organization_id = $1 AND e.seq = d.event_seq
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2
   )
   UPDATE webhook_deliveries d
   SET contact_id = theirs.contact_id,
     next_attempt_at = CASE WHEN theirs.place = 1 THEN coalesce(d.next_attempt_at, now()) END
   FROM theirs
   WHERE d.organization_id = $1 AND d.id = theirs.id`,
)

// Earlier merges into the contact that is restored, and what it was separated from.
const returnMerges = statement<never>(
  'unmerges.returnMerges',
  `UPDATE contact_merges e SET kept_id = m.gone_id, first_seq = e.first_seq - m.seq_offset, last_seq = e.last_seq - m.seq_offset,
     via = array_remove(e.via, m.id)
   FROM ${MERGE} AND e.organization_id = $1 AND e.kept_id = m.kept_id AND m.id = ANY (e.via)`,
)

const returnApart = statement<never>(
  'unmerges.returnApart',
  `UPDATE contact_merges e SET gone_id = m.gone_id, via = array_remove(e.via, m.id)
   FROM ${MERGE} AND e.organization_id = $1 AND e.gone_id = m.kept_id AND e.undone_at IS NOT NULL AND m.id = ANY (e.via)`,
)

/** What moves back, in this order. */
const stepsOf = ({ moved, later }: UndoneMerge) => [
  lowerActivity,
  returnActivity,
  returnAddresses,
  returnSpans,
  ...(moved > 0 ? [returnNumbered, deleteWords] : []),
  ...(moved > 0 && later > 0 ? [liftLater, lowerLater] : []),
  returnUnnumbered,
  returnChanges,
  returnNotes,
  returnOrders,
  returnRecipients,
  returnScheduled,
  returnMerges,
  returnApart,
]

// The numbers of the first and last events of the time between are kept, for an erasure.
const close = statement<never>(
  'unmerges.close',
  `UPDATE contact_merges
   SET undone_at = $3, kept = jsonb_build_object('from_seq', kept -> 'from_seq', 'to_seq', (SELECT last_value FROM events_seq)),
     gone = NULL, active_at = NULL, addresses = NULL, spans = NULL, unnumbered = NULL, orders = NULL,
     notes = NULL, recipients = NULL, scheduled = NULL
   WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2`,
)

const tell = statement<Contact>(
  'unmerges.tell',
  `WITH kept AS (
     SELECT ${CONTACT_COLUMNS} FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2
   ), restored AS (
     SELECT ${CONTACT_COLUMNS} FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $3
   ), told AS (
     ${raiseEvents(contactEvents('contact.updated', '$4', 'kept'), {
       ...contactEvents('contact.unmerged', '$5', 'restored'),
       data: "jsonb_build_object('contact', to_jsonb(restored), 'unmerged', jsonb_build_object('id', $2::uuid))",
     })}
   )
   SELECT ${CONTACT_COLUMNS} FROM restored`,
  { raises: 'events' },
)

/** The merges into a contact since `since`, newest first; at most 100. */
export function listMerges(
  db: Queryable,
  organizationId: string,
  contactId: string,
  since: Date,
): Promise<ListedMerge[]> {
  return db.run(list, [organizationId, contactId, since])
}

/** Locks the kept contact of a merge and reads what decides about the undo; null if there is no such merge since `since`. */
export async function lockMerge(
  transaction: Queryable,
  organizationId: string,
  mergeId: string,
  since: Date,
): Promise<UndoneMerge | null> {
  await transaction.run(lockKept, [organizationId, mergeId])
  const [merge] = await transaction.run(read, [organizationId, mergeId, since])
  return merge ?? null
}

/**
 * Restores the contact that is gone, with all that the merge moved, under its former id. What came after the merge stays
 * with the kept contact. Raises contact.updated and contact.unmerged. Resolves to the restored contact.
 */
export async function undoMerge(
  transaction: Queryable,
  organizationId: string,
  merge: UndoneMerge,
  { kept, gone, at }: SplitAddresses & { at: Date },
): Promise<Contact> {
  const { id, kept_id: keptId, gone_id: goneId } = merge
  const named = [organizationId, id]
  await transaction.run(shrinkKept, [...named, kept.chat_id, kept.phone_number])
  await transaction.run(restoreGone, [...named, gone.chat_id, gone.phone_number, merge.pruned_seq])
  for (const step of stepsOf(merge)) await transaction.run(step, named)
  // As in a merge: no round of deliveries may run meanwhile.
  await lockFeed(transaction, organizationId)
  await transaction.run(returnEvents, named)
  await transaction.run(returnDeliveries, named)
  await transaction.run(returnUsername, [organizationId, keptId])
  await addAddresses(transaction, organizationId, keptId, { addresses: [kept.chat_id] })
  await transaction.run(reopenAddresses, [...named, keptId, goneId, kept.chat_id, gone.chat_id])
  await transaction.run(close, [...named, at])
  await showNewestUserId(transaction, organizationId, keptId)
  const [restored] = await transaction.raise(tell, [organizationId, keptId, goneId, newId(), newId()], [organizationId])
  return restored as Contact
}
