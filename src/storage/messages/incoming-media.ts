import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { UNREADABLE_TEXT } from '../../model/messages/describe-inbound.js'
import type { MessageError, NetworkDetails } from '../../model/messages/message.js'
import type { FileNote } from '../../model/messages/trace.js'
import { changeSearchableMessage, type SearchableMessage } from '../conversations/search.js'
import { raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { messageEvents } from './message-events.js'
import { hasContact, RECORDED_EVENT } from './messages.js'
import { addNoteOfChange } from './trace-notes.js'

/** An inbound message whose file is fetched. */
export interface InboundMedia {
  message_type: string
  content: unknown
  created_at: Date
  instance_id: string | null
  network: NetworkDetails | null
  /** Null if there is nothing (more) to fetch. */
  media_state: 'awaited' | 'retried' | 'missing' | null
}

/** A voice note to be transcribed. */
export interface VoiceNote {
  media_id: string
  mime_type: string
  /** In bytes. */
  size: number
}

const find = statement<InboundMedia>(
  'incomingMedia.find',
  `SELECT m.message_type, m.content, m.created_at, m.instance_id, m.network, m.media_state
   FROM messages m JOIN organizations o ON o.id = m.organization_id
   WHERE m.organization_id = $1 AND m.id = $2 AND ${hasContact('$1::uuid')}`,
)

/** Messages whose file is still to be fetched, locked: a concurrent try waits and then finds the file fetched. */
const UNSETTLED = `
  unsettled AS (
    SELECT id, media_state, placeholder FROM messages
    WHERE organization_id = $1 AND id = $2 AND media_state IN ('awaited', 'retried')
    FOR UPDATE
  )`

/**
 * Raises message.received for the row `m` of `changed` if this is the end of the first try; see incoming.record. If a
 * placeholder for it was told, message.edited instead.
 */
const RECEIVED = `
  received AS (
    ${raiseEvents({
      ...messageEvents(
        `CASE unsettled.placeholder WHEN 'told' THEN 'message.edited' ELSE ${RECORDED_EVENT} END`,
        '$3',
        {
          isWhole: "unsettled.placeholder = 'told'",
          previousText: `CASE unsettled.placeholder WHEN 'told' THEN '${UNREADABLE_TEXT}' END`,
        },
      ),
      from: `unsettled, changed m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
        WHERE unsettled.media_state = 'awaited'`,
    })}
  )`

const attach = statement<{ id: string; is_to_be_transcribed: boolean }>(
  'incomingMedia.attach',
  `WITH ${UNSETTLED}, changed AS (
     UPDATE messages m
     SET media_id = $4, media_expires_at = $5, media_state = NULL, placeholder = NULL, ${addNoteOfChange('m', '$7::jsonb')}
     FROM unsettled
     WHERE m.organization_id = $1 AND m.id = unsettled.id
     RETURNING m.*
   ), ${RECEIVED}, enqueued AS (
     ${enqueueJobs({
       task: 'transcribe_voice_note',
       from: 'changed WHERE $6',
       payload: "jsonb_build_object('messageId', changed.id)",
     })}
   )
   SELECT id, $6::boolean AS is_to_be_transcribed FROM changed`,
  { raises: 'events', enqueues: ({ is_to_be_transcribed }) => is_to_be_transcribed },
)

const postpone = statement<never>(
  'incomingMedia.postpone',
  `WITH ${UNSETTLED}, changed AS (
     UPDATE messages m
     SET media_state = 'retried', placeholder = NULL, ${addNoteOfChange('m', '$4::jsonb')}
     FROM unsettled
     WHERE m.organization_id = $1 AND m.id = unsettled.id
     RETURNING m.*
   ), ${RECEIVED}
   SELECT`,
  { raises: 'events' },
)

const giveUp = statement<never>(
  'incomingMedia.giveUp',
  `WITH ${UNSETTLED}, changed AS (
     UPDATE messages m
     SET media_state = 'missing', placeholder = NULL, error = $4, ${addNoteOfChange('m', '$5::jsonb')}
     FROM unsettled
     WHERE m.organization_id = $1 AND m.id = unsettled.id
     RETURNING m.*
   ), ${RECEIVED}
   SELECT`,
  { raises: 'events' },
)

const findVoice = statement<VoiceNote>(
  'incomingMedia.findVoice',
  `SELECT m.media_id, f.mime_type, f.size::float8 AS size
   FROM messages m JOIN media f ON f.organization_id = m.organization_id AND f.id = m.media_id
     JOIN organizations o ON o.id = m.organization_id
   WHERE m.organization_id = $1 AND m.id = $2 AND m.transcription IS NULL AND ${hasContact('$1::uuid')}`,
)

const transcribe = statement<SearchableMessage & { contact_id: string }>(
  'incomingMedia.transcribe',
  `UPDATE messages SET transcription = $3 WHERE organization_id = $1 AND id = $2
   RETURNING contact_id, seq, text, transcription`,
)

/** The file to fetch for a message; null if the message does not exist any more. */
export async function findInboundMedia(
  db: Queryable,
  organizationId: string,
  messageId: string,
): Promise<InboundMedia | null> {
  const rows = await db.run(find, [organizationId, messageId])
  return rows[0] ?? null
}

/**
 * Attaches a stored file to its message, and enqueues its transcription if that is on. False if the message is gone, or
 * another try has attached it.
 */
export async function attachInboundMedia(
  db: Queryable,
  organizationId: string,
  messageId: string,
  media: { id: string; expiresAt: Date; isToBeTranscribed: boolean; note: FileNote },
): Promise<boolean> {
  const { id, expiresAt, isToBeTranscribed, note } = media
  const rows = await db.raise(
    attach,
    [organizationId, messageId, newId(), id, expiresAt, isToBeTranscribed, JSON.stringify(note)],
    [organizationId],
  )
  return rows.length > 0
}

/** Records that a try to fetch a message's file failed and another one follows. */
export async function postponeInboundMedia(
  db: Queryable,
  organizationId: string,
  messageId: string,
  note: FileNote,
): Promise<void> {
  await db.raise(postpone, [organizationId, messageId, newId(), JSON.stringify(note)], [organizationId])
}

/** Records that a message's file cannot be fetched, and why. */
export async function giveUpInboundMedia(
  db: Queryable,
  organizationId: string,
  messageId: string,
  { error, note }: { error: MessageError; note: FileNote },
): Promise<void> {
  const values = [organizationId, messageId, newId(), JSON.stringify(error), JSON.stringify(note)]
  await db.raise(giveUp, values, [organizationId])
}

/** The stored recording of a message without a transcription; null if there is none. */
export async function findVoiceNote(
  db: Queryable,
  organizationId: string,
  messageId: string,
): Promise<VoiceNote | null> {
  const rows = await db.run(findVoice, [organizationId, messageId])
  return rows[0] ?? null
}

/** Stores the transcription of a voice note and makes it searchable. Needs a transaction. */
export async function setTranscription(
  transaction: Queryable,
  organizationId: string,
  messageId: string,
  text: string,
): Promise<void> {
  const [message] = await transaction.run(transcribe, [organizationId, messageId, text])
  if (message) await changeSearchableMessage(transaction, organizationId, message.contact_id, message)
}
