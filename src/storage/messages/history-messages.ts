import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { MAX_FALLING } from '../../model/messages/phone-history.js'
import { normalizeName, searchUsernames } from '../contacts/contacts.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import type { IncomingMessage, Sender } from './incoming.js'
import { FAR, liftMessages } from './phone-history.js'
import { fillPlaceholder, IS_DELETED, tellPlaceholder } from './placeholders.js'

// A message that a phone's history brought, and that comes as a message or echo afterwards. It has its row already. What
// incoming.record does with the contact happens now, and the row gets the last number, as if it had come now. It becomes
// a placeholder, which is then filled and reported as any other.

// Before the message is locked, as in other statements that change both. The words are not indexed meanwhile, because
// numbers change.
const welcome = statement<never>(
  'historyMessages.welcome',
  `WITH before AS MATERIALIZED (
     SELECT c.* FROM messages m JOIN contacts c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND m.upstream_id = $2 AND m.instance_id IS NOT DISTINCT FROM $3 AND m.only_in_history
     FOR UPDATE OF c
   ), changed AS (
     UPDATE contacts c
     SET has_unread_messages = (c.has_unread_messages OR ($4::boolean AND NOT c.blocked)) AND NOT $5::boolean,
       bot_status = CASE WHEN $5::boolean AND c.bot_status = 'active' THEN 'paused' ELSE c.bot_status END,
       last_inbound_at = greatest(c.last_inbound_at, $6::timestamptz),
       wrote_to = CASE WHEN $6 >= coalesce(c.last_inbound_at, '-infinity') THEN $3::uuid ELSE c.wrote_to END,
       full_name = coalesce(c.full_name, $7), folded_name = coalesce(c.folded_name, $8),
       parent_user_id = coalesce($10, c.parent_user_id),
       username = CASE WHEN $11::text IS NOT NULL AND $12 >= coalesce(c.username_at, '-infinity') THEN $11 ELSE c.username END,
       username_at = CASE WHEN $11::text IS NULL THEN c.username_at ELSE greatest(c.username_at, $12::timestamptz) END,
       business_group = CASE WHEN c.business_group @> $13::jsonb THEN c.business_group
         ELSE coalesce(c.business_group || $13, $13, c.business_group) END,
       archived = c.archived AND (c.blocked OR NOT $4::boolean),
       archived_through = CASE WHEN c.archived AND (c.blocked OR NOT $4::boolean) THEN c.archived_through END,
       updated_at = now()
     FROM before
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = before.id
     RETURNING c.*
   ), parents AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, 'parent:' || changed.parent_user_id, changed.id FROM changed JOIN before ON before.id = changed.id
     WHERE changed.parent_user_id IS DISTINCT FROM before.parent_user_id
     ON CONFLICT DO NOTHING
   ), usernames AS (
     ${searchUsernames(`SELECT changed.id, changed.username FROM changed JOIN before ON before.id = changed.id
       WHERE changed.username IS DISTINCT FROM before.username`)}
   ), active AS (
     UPDATE contact_activity a SET active_at = greatest(a.active_at, now())
     FROM changed
     WHERE ${ofOrganization('a.organization_id', '$1::uuid')} AND a.contact_id = changed.id
   )
   ${raiseEvents(
     contactEvents(
       'contact.updated',
       '$9',
       'changed',
       `changed JOIN before ON before.id = changed.id
       WHERE (before.full_name, before.archived, before.parent_user_id, before.username)
           IS DISTINCT FROM (changed.full_name, changed.archived, changed.parent_user_id, changed.username)
         OR ($5::boolean AND (before.has_unread_messages OR before.bot_status IS DISTINCT FROM changed.bot_status))`,
     ),
   )}`,
  { raises: 'events' },
)

// A message that its author has deleted stays as it is, and is not reported.
const hold = statement<{ id: string; contact_id: string; seq: number; is_deleted: boolean }>(
  'historyMessages.hold',
  `WITH found AS (
     SELECT m.id, ${IS_DELETED} AS is_deleted FROM messages m
     WHERE m.organization_id = $1 AND m.upstream_id = $2 AND m.instance_id IS NOT DISTINCT FROM $3 AND m.only_in_history
     FOR NO KEY UPDATE OF m
   )
   UPDATE messages m
   SET only_in_history = NULL, placeholder = CASE WHEN NOT found.is_deleted THEN 'held' END,
     status = CASE WHEN m.sender_type = 'human-chat' OR m.read_at IS NOT NULL THEN m.status ELSE 'delivered' END,
     delivered_at = CASE WHEN m.sender_type <> 'human-chat' THEN m.created_at END,
     assignee_id = CASE WHEN m.sender_type <> 'human-chat' THEN (
       SELECT c.assignee_id FROM contacts c
       WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.contact_id
     ) END
   FROM found
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = found.id
   RETURNING m.id, m.contact_id, m.seq, found.is_deleted`,
)

// Not behind messages that the undo of a merge would move.
const readLast = statement<{ last_seq: number }>(
  'historyMessages.readLast',
  `SELECT c.last_seq FROM contacts c
   WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2 AND c.last_seq > $3 AND c.last_seq - $3 <= ${MAX_FALLING}
     AND NOT EXISTS (
       SELECT FROM contact_merges m
       WHERE m.organization_id = $1 AND m.kept_id = c.id AND m.undone_at IS NULL AND m.last_seq >= $3
     )`,
)

const land = statement<never>(
  'historyMessages.land',
  `UPDATE messages SET seq = CASE WHEN id = $5 THEN $4 ELSE seq + ${FAR} - 1 END
   WHERE organization_id = $1 AND contact_id = $2 AND seq BETWEEN $3::bigint - ${FAR} AND $4::bigint - ${FAR}`,
)

const lowerNotes = statement<never>(
  'historyMessages.lowerNotes',
  'UPDATE notes SET after_seq = after_seq - 1 WHERE organization_id = $1 AND contact_id = $2 AND after_seq BETWEEN $3 AND $4',
)

// The search reads these messages, until it indexes them again.
const forgetWords = statement<never>(
  'historyMessages.forgetWords',
  `WITH deleted AS (
     DELETE FROM message_search WHERE organization_id = $1 AND contact_id = $2 AND seq >= $3
   )
   UPDATE contacts SET searchable_seq = $3::bigint - 1
   WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 AND searchable_seq >= $3::bigint`,
)

/**
 * Makes a message that came with a history only one like all others, and raises what recording it raises. If only a
 * placeholder comes for it, what the history said stays. Resolves to its id; null if there is none any more. Needs a
 * transaction.
 */
export async function tellHistoricMessage(
  transaction: Queryable,
  organizationId: string,
  { profileName, parentUserId, username }: Sender,
  message: IncomingMessage,
): Promise<string | null> {
  const place = [organizationId, message.upstreamId, message.instanceId]
  const effects = [
    message.isNews,
    message.sender_type === 'human-chat',
    message.opensWindow ? message.created_at : null,
    profileName,
    normalizeName(profileName),
    newId(),
    parentUserId,
    username,
    message.created_at,
    message.businessGroup && JSON.stringify(message.businessGroup),
  ]
  await transaction.raise(welcome, [...place, ...effects], [organizationId])
  const [held] = await transaction.run(hold, place)
  if (!held) return null
  await putLast(transaction, organizationId, held)
  if (held.is_deleted) return held.id
  if (message.placeholder !== null) await tellPlaceholder(transaction, organizationId, held.id)
  else await fillPlaceholder(transaction, organizationId, message)
  return held.id
}

/** Gives a message the last number of its conversation; those after it fall by one. */
async function putLast(
  transaction: Queryable,
  organizationId: string,
  { id, contact_id: contactId, seq }: { id: string; contact_id: string; seq: number },
): Promise<void> {
  const [last] = await transaction.run(readLast, [organizationId, contactId, seq])
  if (!last) return
  const range = [organizationId, contactId, seq, last.last_seq]
  await liftMessages(transaction, organizationId, contactId, { from: seq, to: last.last_seq })
  await transaction.run(land, [...range, id])
  await transaction.run(lowerNotes, range)
  await transaction.run(forgetWords, [organizationId, contactId, seq])
}
