import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import { earlierReferral, laterReferral } from '../contacts/contacts.js'
import { changeSearchableMessage, type SearchableMessage } from '../conversations/search.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { type IncomingMessage, isSameAuthor } from './incoming.js'
import { messageEvents } from './message-events.js'
import { hasContact, RECORDED_EVENT } from './messages.js'
import { addNoteOfChange } from './trace-notes.js'

/** SQL: whether the author of the message `m` has deleted it. */
export const IS_DELETED = `EXISTS (
       SELECT FROM messages e
       WHERE e.organization_id = $1 AND e.context_upstream_id = m.upstream_id AND e.contact_id = m.contact_id
         AND e.seq IS NULL AND e.message_type = 'revoke'
         AND ${isSameAuthor('e', "m.sender_type = 'user-chat'", 'm.instance_id', "m.network ->> 'participant'")}
     )`

// Before the message is locked, as in other statements that change both.
const refer = statement<never>(
  'placeholders.refer',
  `WITH referred AS (
     -- The contact came from the ad of the message that the placeholder stands for.
     UPDATE contacts c
     SET referral_first = ${earlierReferral('c.referral_first', 'm.referral')},
       referral_last = ${laterReferral('c.referral_last', 'm.referral')}, updated_at = now()
     FROM (
       SELECT m.contact_id, $4::jsonb || jsonb_build_object('message_id', m.id) AS referral FROM messages m
       WHERE m.organization_id = $1 AND m.upstream_id = $2 AND m.instance_id IS NOT DISTINCT FROM $3
         AND m.placeholder IS NOT NULL AND NOT ${IS_DELETED}
     ) m
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.contact_id
     RETURNING c.*
   )
   ${raiseEvents(contactEvents('contact.updated', '$5', 'referred'))}`,
  { raises: 'events' },
)

// If it was told and has a file, it stays a placeholder until the first attempt to download the file raises
// message.edited (see incoming-media).
const fill = statement<SearchableMessage & { id: string; contact_id: string; awaits_media: boolean }>(
  'placeholders.fill',
  `WITH owner AS (
     -- Locks the contact before the message, as in other statements that change both.
     SELECT c.id FROM messages m JOIN contacts c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND m.upstream_id = $2 AND m.instance_id IS NOT DISTINCT FROM $3
       AND m.placeholder IS NOT NULL
     FOR NO KEY UPDATE OF c
   ), held AS (
     -- Locks the placeholder, unless its author has deleted it.
     SELECT m.id, m.placeholder, m.text FROM owner JOIN messages m ON m.contact_id = owner.id
     WHERE m.organization_id = $1 AND m.upstream_id = $2 AND m.instance_id IS NOT DISTINCT FROM $3
       AND m.placeholder IS NOT NULL AND NOT ${IS_DELETED}
     FOR NO KEY UPDATE OF m
   ), changed AS (
     -- Makes it the real message, in its place, with the text of an edit that came before.
     UPDATE messages m
     SET message_type = $4, text = CASE WHEN m.extras ? 'edited_at' THEN m.text ELSE $5 END, media_type = $6, content = $7,
       extras = CASE WHEN m.extras ? 'edited_at'
         THEN coalesce($14::jsonb, '{}') || jsonb_build_object('edited_at', m.extras -> 'edited_at') ELSE $14 END,
       context_upstream_id = $8, network = $9, gateway_type = $10,
       media_state = CASE WHEN $11::boolean THEN 'awaited' END,
       placeholder = CASE WHEN $11::boolean AND held.placeholder = 'told' THEN 'told' END, ${addNoteOfChange('m', '$12::jsonb')}
     FROM held
     WHERE m.organization_id = $1 AND m.id = held.id
     RETURNING m.*
   ), raised AS (
     -- Raises the event of the message, or message.edited if that was raised, unless it waits for the file.
     ${raiseEvents({
       ...messageEvents(`CASE held.placeholder WHEN 'held' THEN ${RECORDED_EVENT} ELSE 'message.edited' END`, '$13', {
         isWhole: "held.placeholder = 'told'",
         previousText: "CASE held.placeholder WHEN 'told' THEN held.text END",
       }),
       from: `changed m JOIN held ON held.id = m.id JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
       WHERE NOT $11::boolean`,
     })}
   ), enqueued AS (
     -- Enqueues the download of the file.
     ${enqueueJobs({
       task: 'fetch_media',
       from: 'changed WHERE $11::boolean',
       payload: "jsonb_build_object('messageId', changed.id)",
     })}
   )
   SELECT id, contact_id, seq, text, transcription, $11::boolean AS awaits_media FROM changed`,
  { raises: 'events', enqueues: ({ awaits_media }) => awaits_media },
)

const tell = statement<never>(
  'placeholders.tell',
  `WITH told AS (
     UPDATE messages m SET placeholder = 'told'
     WHERE m.organization_id = $1 AND m.id = $2 AND m.placeholder = 'held' AND NOT ${IS_DELETED}
       AND ${hasContact('$1::uuid')}
     RETURNING m.*
   ), raised AS (
     ${raiseEvents({
       ...messageEvents(RECORDED_EVENT, '$3', { isWhole: 'true' }),
       from: 'told m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id',
     })}
   )
   SELECT`,
  { raises: 'events' },
)

const release = statement<SearchableMessage & { contact_id: string }>(
  'placeholders.release',
  `WITH before AS (
     SELECT m.id, m.placeholder, m.only_in_history FROM messages m
     WHERE m.organization_id = $1 AND m.upstream_id = $2 AND m.instance_id IS NOT DISTINCT FROM $3
       AND m.placeholder IS NOT NULL AND m.media_state IS NULL AND ${hasContact('$1::uuid')}
     FOR NO KEY UPDATE OF m
   ), changed AS (
     UPDATE messages m
     SET upstream_id = NULL, placeholder = NULL, text = '',
       extras = coalesce(m.extras, '{}') || jsonb_build_object('deleted_at', $4::timestamptz)
     FROM before
     WHERE m.organization_id = $1 AND m.id = before.id
     RETURNING m.*
   ), raised AS (
     ${raiseEvents({
       ...messageEvents("'message.deleted'", '$5', { isWhole: 'true' }),
       from: `changed m JOIN before ON before.id = m.id JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
       WHERE before.placeholder = 'told' AND before.only_in_history IS NULL`,
     })}
   )
   SELECT contact_id, seq, text, transcription FROM changed`,
  { raises: 'events' },
)

/**
 * Replaces a placeholder by the real message with the same upstream id. It keeps its id, contact, number and time.
 * Resolves to id and contact; null if there is no placeholder any more. Needs a transaction.
 */
export async function fillPlaceholder(
  transaction: Queryable,
  organizationId: string,
  message: IncomingMessage,
): Promise<{ id: string; contactId: string } | null> {
  const { content, extras, network, referral } = message
  const place = [organizationId, message.upstreamId, message.instanceId]
  if (referral) await transaction.raise(refer, [...place, JSON.stringify(referral), newId()], [organizationId])
  const values = [
    ...place,
    message.message_type,
    message.text,
    message.media_type,
    toJson(content),
    message.contextUpstreamId,
    network && JSON.stringify(network),
    gatewayType(message),
    message.awaitsMedia,
    JSON.stringify(message.note),
    message.eventId,
    toJson(extras),
  ]
  const [filled] = await transaction.raise(fill, values, [organizationId])
  if (!filled) return null
  await changeSearchableMessage(transaction, organizationId, filled.contact_id, filled)
  return { id: filled.id, contactId: filled.contact_id }
}

/**
 * Frees the upstream id of a placeholder that stood for something else than a message, such as a reaction with the same
 * id. It shows as deleted from then on; raises message.deleted if its event was raised. Resolves to whether there was
 * one. Needs a transaction.
 */
export async function releasePlaceholder(
  transaction: Queryable,
  organizationId: string,
  place: { upstreamId: string; instanceId: string | null },
  at: Date,
): Promise<boolean> {
  const values = [organizationId, place.upstreamId, place.instanceId, at, newId()]
  const [released] = await transaction.raise(release, values, [organizationId])
  if (!released) return false
  await changeSearchableMessage(transaction, organizationId, released.contact_id, released)
  return true
}

/** Raises the event of a placeholder whose real message has not come. Repeated, it does nothing. */
export async function tellPlaceholder(db: Queryable, organizationId: string, messageId: string): Promise<void> {
  await db.raise(tell, [organizationId, messageId, newId()], [organizationId])
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
