import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { OptedOutContact } from '../../model/contacts/opt-out.js'
import { COUNT_LIMIT } from '../../model/page.js'
import { contactEvents, type RaisedEvents, raiseEvents } from '../events/raise.js'
import { CONTACT_COLUMNS } from './contacts.js'

/** One page of an organization's opt-outs, newest first, and the number on all pages, counted up to `COUNT_LIMIT`. */
export interface OptOutPage {
  contacts: OptedOutContact[]
  total: number
}

/** For a WITH: the events, under the ids $3 and $4, for the opted-out contact in `changed`, with the rows of `from`. */
export const optedOutEvents = (from: string) => `raised AS (
     ${raiseEvents(
       contactEvents('contact.opted_out', '$3', 'changed', from),
       contactEvents('contact.updated', '$4', 'changed', from),
     )}
   )`

/** For `optedOutEvents`: only if the contact, which is as it was in `before`, was not opted out. */
export const IF_NEWLY_OPTED_OUT = 'changed, before WHERE before.opted_out_at IS NULL'

/** The events, under the ids, for a contact in `changed` that was opted out in `before`. */
export function optedInEvents(ids: readonly [string, string], source: 'reply' | 'upstream'): RaisedEvents[] {
  const from = 'changed, before WHERE before.opted_out_at IS NOT NULL'
  const data = `jsonb_build_object('contact', to_jsonb(changed), 'source', '${source}')`
  return [
    { ...contactEvents('contact.opted_in', ids[0], 'changed', from), data },
    contactEvents('contact.updated', ids[1], 'changed', from),
  ]
}

/** The words of a message that are kept as those of a consent. */
const WORDS = 'left(m.text, 1000)'

/** SQL: when the contact `c` was opted out, as far as an event has told it. */
const TOLD_AT = "CASE WHEN c.opt_out_source = 'reply' AND c.opt_out_untold THEN NULL ELSE c.opted_out_at END"

// A reply takes the place of an opt-out that the upstream reported, which a wish in WhatsApp would end. A newer one moves
// the time of a reply, so that an opt-in of before comes too late.
const optOut = statement<never>(
  'optOuts.byReply',
  `WITH before AS (
     -- Locks the contact, unless it opted in later, or opted out by an import, or by a later reply that was told.
     SELECT c.id, ${TOLD_AT} AS opted_out_at, c.opt_out_source = 'reply' AND c.opted_out_at > $5 AS is_older, ${WORDS} AS words
     FROM messages m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND m.id = $2
       AND (${TOLD_AT} IS NULL OR c.opt_out_source = 'upstream' OR (c.opt_out_source = 'reply' AND c.opted_out_at < $5))
       AND (c.opted_in_at <= $5) IS NOT FALSE
     FOR NO KEY UPDATE OF c
   ), changed AS (
     -- Opts it out.
     UPDATE contacts c
     SET allow_broadcast = false, opted_out_at = greatest(c.opted_out_at, $5), opt_out_source = 'reply',
       opt_out_untold = NULL, consent_words = CASE WHEN before.is_older THEN c.consent_words ELSE before.words END,
       updated_at = now()
     FROM before
     WHERE c.organization_id = $1 AND c.id = before.id
     RETURNING c.*
   ), ${optedOutEvents(IF_NEWLY_OPTED_OUT)}
   SELECT`,
  { raises: 'events' },
)

// Raises nothing if there was no opt-out to end, or none that was told. If the organization disallowed broadcasts by hand,
// the customer cannot change that.
const optIn = statement<never>(
  'optOuts.end',
  `WITH before AS (
     -- Locks the contact, unless it opted in or out later.
     SELECT c.id, c.opted_out_at IS NOT NULL AS was_out, ${TOLD_AT} AS opted_out_at, ${WORDS} AS words
     FROM messages m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND m.id = $2
       AND (c.opted_out_at <= $3) IS NOT FALSE AND (c.opted_in_at <= $3) IS NOT FALSE
     FOR NO KEY UPDATE OF c
   ), changed AS (
     -- Ends the opt-out.
     UPDATE contacts c
     SET allow_broadcast = c.allow_broadcast OR before.was_out, opted_out_at = NULL, opt_out_source = NULL,
       opt_out_untold = NULL, opted_in_at = $3, consent_words = before.words, updated_at = now()
     FROM before
     WHERE c.organization_id = $1 AND c.id = before.id
     RETURNING c.*
   ), raised AS (
     -- Raises the events if there was one that was told.
     ${raiseEvents(...optedInEvents(['$4', '$5'], 'reply'))}
   )
   SELECT`,
  { raises: 'events' },
)

// The same by a reply in the history of a phone, whose parts come in any order: the newest wish counts. Of one second, the
// opt-out counts.
const optOutByHistory = statement<never>(
  'optOuts.byHistory',
  `UPDATE contacts c
   SET allow_broadcast = false, opted_out_at = greatest(c.opted_out_at, $3), opt_out_source = 'reply',
     opt_out_untold = CASE WHEN c.opted_out_at IS NULL THEN true WHEN c.opt_out_source = 'reply' THEN c.opt_out_untold END,
     consent_words = left($4, 1000), updated_at = now()
   WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2 AND (c.opted_in_at <= $3) IS NOT FALSE
     AND (c.opted_out_at IS NULL OR c.opt_out_source = 'upstream' OR (c.opt_out_source = 'reply' AND c.opted_out_at < $3))`,
)

// The time of an opt-in is kept, too, if a newer opt-out is known already.
const endByHistory = statement<never>(
  'optOuts.endByHistory',
  `UPDATE contacts c
   SET opted_in_at = $3, updated_at = now(),
     (allow_broadcast, opted_out_at, opt_out_source, opt_out_untold, consent_words) = (
       SELECT c.allow_broadcast, c.opted_out_at, c.opt_out_source, c.opt_out_untold, c.consent_words
       WHERE c.opted_out_at >= $3
       UNION ALL
       SELECT c.allow_broadcast OR c.opted_out_at IS NOT NULL, NULL, NULL, NULL, left($4, 1000)
       WHERE (c.opted_out_at >= $3) IS NOT TRUE
     )
   WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2 AND (c.opted_in_at < $3) IS NOT FALSE`,
)

// The wish of one member of a group is not the wish of all. The recipient stores when the upstream refused it, so that a repeated report after an opt-in is not a new opt-out.
// Locks the contact first, as replies do.
const optOutByUpstream = statement<never>(
  'optOuts.byUpstream',
  `WITH refused AS (
     -- Locks the contact of the failed message.
     SELECT c.id AS contact_id, m.broadcast_id, m.recipient_n, m.failed_at
     FROM messages m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND m.id = $2 AND m.failed_at IS NOT NULL
       AND (c.network_id LIKE '%@g.us') IS NOT TRUE
     FOR NO KEY UPDATE OF c
   ), before AS (
     -- Locks the message's recipient, unless this failure was applied before.
     SELECT r.broadcast_id, r.n, r.opted_out_at, refused.failed_at
     FROM refused JOIN broadcast_recipients r
       ON r.organization_id = $1 AND r.broadcast_id = refused.broadcast_id AND r.n = refused.recipient_n
     WHERE (r.opted_out_at < refused.failed_at) IS NOT FALSE
     FOR NO KEY UPDATE OF r
   ), marked AS (
     -- Stores the failure at the recipient.
     UPDATE broadcast_recipients r
     SET opted_out_at = before.failed_at
     FROM before
     WHERE r.organization_id = $1 AND r.broadcast_id = before.broadcast_id AND r.n = before.n
     RETURNING r.campaign_id, before.opted_out_at IS NULL AS is_first
   ), counted AS (
     -- Counts the first opt-out of a recipient.
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
     SELECT $1, campaign_id, 'opted_out', 1 FROM marked WHERE is_first
   ), changed AS (
     -- Opts the contact out.
     UPDATE contacts c
     SET allow_broadcast = false, opted_out_at = refused.failed_at, opt_out_source = 'upstream', consent_words = NULL,
       updated_at = now()
     FROM refused
     WHERE c.organization_id = $1 AND c.id = refused.contact_id
       AND c.opted_out_at IS NULL AND (c.opted_in_at <= refused.failed_at) IS NOT FALSE
       AND (refused.broadcast_id IS NULL OR EXISTS (SELECT FROM before))
     RETURNING c.*
   ), ${optedOutEvents('changed')}
   SELECT`,
  { raises: 'events' },
)

const OPTED_OUT = 'organization_id = $1 AND opted_out_at IS NOT NULL'
const NEWEST_FIRST = 'ORDER BY opted_out_at DESC, id DESC'

const count = statement<{ total: number }>(
  'optOuts.count',
  `SELECT count(*) AS total FROM (SELECT FROM contacts WHERE ${OPTED_OUT} LIMIT ${COUNT_LIMIT}) counted`,
)

const listPage = statement<OptedOutContact>(
  'optOuts.page',
  `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE ${OPTED_OUT} ${NEWEST_FIRST} OFFSET $2 LIMIT $3`,
)

const listBefore = statement<OptedOutContact>(
  'optOuts.before',
  `SELECT ${CONTACT_COLUMNS} FROM contacts
   WHERE ${OPTED_OUT} AND (opted_out_at, id) < (coalesce($2::timestamptz, 'infinity'), $3::uuid)
   ${NEWEST_FIRST} LIMIT $4`,
)

/**
 * Opts out the contact that wrote the message, and raises contact.opted_out and contact.updated, unless they were raised
 * before. If the upstream, or an older reply, has opted it out already, this reply becomes the reason. Does nothing if it
 * is opted out by an import, or opted in later than `at`.
 */
export async function optOutByReply(db: Queryable, organizationId: string, messageId: string, at: Date): Promise<void> {
  await db.raise(optOut, [organizationId, messageId, newId(), newId(), at], [organizationId])
}

/**
 * Ends the opt-out of the contact that wrote the message, regardless of the opt-out's source, and raises
 * contact.opted_in and contact.updated under the two ids. Does nothing if it opted out later than `at`.
 */
export async function endOptOut(db: Queryable, organizationId: string, messageId: string, at: Date): Promise<void> {
  await db.raise(optIn, [organizationId, messageId, at, newId(), newId()], [organizationId])
}

/** A wish in the history of a phone. */
export interface HistoricWish {
  contactId: string
  at: Date
  words: string
}

/** Opts out the contact as optOutByReply does, but raises nothing. */
export async function optOutByHistoricReply(
  db: Queryable,
  organizationId: string,
  { contactId, at, words }: HistoricWish,
): Promise<void> {
  await db.run(optOutByHistory, [organizationId, contactId, at, words])
}

/** Ends the opt-out of the contact as endOptOut does, but raises nothing. */
export async function endOptOutByHistory(
  db: Queryable,
  organizationId: string,
  { contactId, at, words }: HistoricWish,
): Promise<void> {
  await db.run(endByHistory, [organizationId, contactId, at, words])
}

/**
 * Opts out the contact of a message that the upstream refused for that reason, and counts it in the broadcast, once per
 * failure of a message. Raises the same events as `optOutByReply`.
 */
export async function recordUpstreamOptOut(db: Queryable, organizationId: string, messageId: string): Promise<void> {
  await db.raise(optOutByUpstream, [organizationId, messageId, newId(), newId()], [organizationId])
}

/** One page of the opted-out contacts, newest first. */
export async function listOptOutPage(
  db: Queryable,
  organizationId: string,
  skip: number,
  limit: number,
): Promise<OptOutPage> {
  const [[counted], contacts] = await Promise.all([
    db.run(count, [organizationId]),
    db.run(listPage, [organizationId, skip, limit]),
  ])
  return { contacts, total: counted?.total ?? 0 }
}

/** The next contacts in the same order; null starts. For reading all of them. */
export function listOptOutsAfter(
  db: Queryable,
  organizationId: string,
  last: Pick<OptedOutContact, 'opted_out_at' | 'id'> | null,
  limit: number,
): Promise<OptedOutContact[]> {
  return db.run(listBefore, [organizationId, last?.opted_out_at ?? null, last?.id ?? null, limit])
}
