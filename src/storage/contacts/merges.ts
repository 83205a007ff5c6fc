import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { lockFeed } from '../webhooks/feeds.js'
import { moveRecipients } from './broadcast-recipients.js'
import { CONTACT_COLUMNS, earlierReferral, laterReferral, normalizeName, searchUsernames } from './contacts.js'
import { journalMerge, type Merge } from './merge-journal.js'

const moveMessages = statement<never>(
  'contactMerges.moveMessages',
  'UPDATE messages SET contact_id = $3, seq = seq + $4 WHERE organization_id = $1 AND contact_id = $2',
)

const moveNotes = statement<never>(
  'contactMerges.moveNotes',
  'UPDATE notes SET contact_id = $3, after_seq = greatest(after_seq + $4, $5) WHERE organization_id = $1 AND contact_id = $2',
)

const moveScheduled = statement<never>(
  'contactMerges.moveScheduled',
  'UPDATE scheduled_messages SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
)

const moveOrders = statement<never>(
  'contactMerges.moveOrders',
  'UPDATE storefront_orders SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
)

const moveAddresses = statement<never>(
  'contactMerges.moveAddresses',
  'UPDATE contact_addresses SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
)

const moveSpans = statement<never>(
  'contactMerges.moveSpans',
  'UPDATE contact_address_spans SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
)

const moveEvents = statement<never>(
  'contactMerges.moveEvents',
  'UPDATE events SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
)

// If both contacts have a delivery that is due, the later one now waits for the earlier one.
const moveDeliveries = statement<never>(
  'contactMerges.moveDeliveries',
  `WITH waiting AS (
     SELECT d.id, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.next_attempt_at IS NULL, d.event_seq) AS place
     FROM webhooks w JOIN webhook_deliveries d ON d.organization_id = w.organization_id AND d.webhook_id = w.id
     WHERE w.organization_id = $1 AND d.contact_id IN ($2, $3) AND d.status = 'pending' AND d.in_order
   )
   UPDATE webhook_deliveries d
   SET contact_id = $3, next_attempt_at = CASE WHEN waiting.place = 1 THEN d.next_attempt_at END
   FROM waiting
   WHERE d.organization_id = $1 AND d.id = waiting.id`,
)

const moveActivity = statement<never>(
  'contactMerges.moveActivity',
  `UPDATE contact_activity older
   SET active_at = greatest(older.active_at, younger.active_at)
   FROM contact_activity younger
   WHERE older.organization_id = $1 AND older.contact_id = $3 AND younger.organization_id = $1 AND younger.contact_id = $2`,
)

// The search indexes the moved messages again.
const deleteWords = statement<never>(
  'contactMerges.deleteWords',
  'DELETE FROM message_search WHERE organization_id = $1 AND contact_id = $2',
)

const deleteContact = statement<never>(
  'contactMerges.deleteContact',
  `WITH dropped AS (
     DELETE FROM contacts WHERE organization_id = $1 AND id = $2 RETURNING id
   )
   INSERT INTO contact_counts (organization_id, change) SELECT $1, -1 FROM dropped`,
)

// Takes from the younger contact what the older lacks; the younger's number becomes the chat id if the older has none.
const mergeFields = statement<Contact>(
  'contactMerges.mergeFields',
  `WITH merged AS (
     UPDATE contacts
     SET chat_id = CASE WHEN phone_number IS NULL AND $4::text IS NOT NULL THEN $3 ELSE chat_id END,
       phone_number = coalesce(phone_number, $4), user_id = coalesce(user_id, $22),
       parent_user_id = coalesce(parent_user_id, $23),
       username = CASE WHEN $25::timestamptz > coalesce(username_at, '-infinity') THEN $24 ELSE username END,
       username_at = greatest(username_at, $25),
       referral_first = ${earlierReferral('referral_first', '$29::jsonb')},
       referral_last = ${laterReferral('referral_last', '$30::jsonb')},
       full_name = coalesce(full_name, $5), folded_name = coalesce(folded_name, $17), email = coalesce(email, $6), bot_status = coalesce(bot_status, $14),
       contact_summary = coalesce(contact_summary, $15), assignee_id = coalesce(assignee_id, $21),
       contact_summary_updated_at = CASE WHEN contact_summary IS NULL THEN $16 ELSE contact_summary_updated_at END,
       tags = tags || ARRAY (SELECT tag FROM unnest($7::text[]) AS tag WHERE NOT tag = ANY (tags)),
       allow_broadcast = allow_broadcast AND $8, opted_out_at = coalesce(opted_out_at, $18),
       opt_out_source = coalesce(opt_out_source, $19), opted_in_at = greatest(opted_in_at, $20),
       consent_words = CASE WHEN opted_out_at IS NULL AND $18::timestamptz IS NOT NULL THEN $31 ELSE consent_words END,
       -- That of the other contact is told by the events.
       opt_out_untold = CASE WHEN opted_out_at IS NOT NULL THEN opt_out_untold END, blocked = blocked OR $9,
       has_unread_messages = has_unread_messages OR $10,
       last_seq = last_seq + $11, last_inbound_at = greatest(last_inbound_at, $12),
       wrote_to = CASE WHEN $12::timestamptz > coalesce(last_inbound_at, '-infinity') THEN $32 ELSE wrote_to END, updated_at = now()
     WHERE organization_id = $1 AND id = $2
     RETURNING ${CONTACT_COLUMNS}
   ), usernames AS (
     ${searchUsernames('SELECT id, username FROM merged WHERE username IS NOT NULL')}
   ), event AS (
     ${raiseEvents(contactEvents('contact.updated', '$13', 'merged'), {
       ...contactEvents('contact.merged', '$26', 'merged'),
       data: `jsonb_build_object('contact', to_jsonb(merged), 'merged', jsonb_build_object('id', $27::uuid, 'cause', $28::text))`,
     })}
   )
   SELECT ${CONTACT_COLUMNS} FROM merged`,
  { raises: 'events' },
)

/**
 * Moves everything of the younger contact to the older one and deletes it. The younger's messages come after the
 * older's, without a gap for those that were deleted, so existing pages stay stable. Both must be locked. Raises
 * contact.updated and contact.merged. Resolves to the merged contact.
 */
export async function mergeContacts(transaction: Queryable, organizationId: string, merge: Merge): Promise<Contact> {
  const { older, younger, cause } = merge
  await journalMerge(transaction, organizationId, merge)
  const moved = [organizationId, younger.id, older.id, older.last_seq - younger.pruned_seq]
  await transaction.run(moveMessages, moved)
  await transaction.run(moveNotes, [...moved, older.last_seq])
  await moveRecipients(transaction, organizationId, younger.id, older.id)
  await transaction.run(moveScheduled, [organizationId, younger.id, older.id])
  await transaction.run(moveOrders, [organizationId, younger.id, older.id])
  await transaction.run(moveAddresses, [organizationId, younger.id, older.id])
  await transaction.run(moveSpans, [organizationId, younger.id, older.id])
  // Without the feed's lock, a concurrent round of deliveries could let deliveries of the two contacts wait for each
  // other without a wake-up.
  await lockFeed(transaction, organizationId)
  await transaction.run(moveEvents, [organizationId, younger.id, older.id])
  await transaction.run(moveDeliveries, [organizationId, younger.id, older.id])
  await transaction.run(moveActivity, [organizationId, younger.id, older.id])
  await transaction.run(deleteWords, [organizationId, younger.id])
  await transaction.run(deleteContact, [organizationId, younger.id])
  const [merged] = await transaction.raise(
    mergeFields,
    [
      organizationId,
      older.id,
      younger.chat_id,
      younger.phone_number,
      younger.full_name,
      younger.email,
      younger.tags,
      younger.allow_broadcast,
      younger.blocked,
      younger.has_unread_messages,
      younger.last_seq - younger.pruned_seq,
      younger.last_inbound_at,
      newId(),
      younger.bot_status,
      younger.contact_summary,
      younger.contact_summary_updated_at,
      normalizeName(younger.full_name),
      younger.opted_out_at,
      younger.opt_out_source,
      younger.opted_in_at,
      younger.assignee_id,
      younger.user_id,
      younger.parent_user_id,
      younger.username,
      younger.username_at,
      newId(),
      younger.id,
      cause,
      younger.referral_first && JSON.stringify(younger.referral_first),
      younger.referral_last && JSON.stringify(younger.referral_last),
      younger.consent_words,
      younger.wrote_to,
    ],
    [organizationId],
  )
  return merged as Contact
}
