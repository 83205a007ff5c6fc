import type { Context } from '../../context.js'
import { writeCsv } from '../../lib/text/csv-write.js'
import { writeJsonList } from '../../lib/text/json-write.js'
import type { Contact } from '../../model/contacts/contact.js'
import { presentMessageOf, type ShownMessage } from '../../model/messages/message.js'
import type { Organization } from '../../model/organizations/organization.js'
import { findContactById } from '../../storage/contacts/contacts.js'
import { findMessagesBySeq } from '../../storage/messages/messages.js'
import type { ExportFormat } from '../contacts/export.js'
import { findBusinessNumbers } from '../organizations/numbers.js'

type Shown = ReturnType<typeof presentMessageOf>

const STEP = 200

/** The value of each column. */
const COLUMNS: Record<string, (message: Shown) => string | null> = {
  id: ({ id }) => id,
  message_id: ({ message_id }) => message_id,
  created_at: ({ created_at }) => created_at,
  sender_type: ({ sender_type }) => sender_type,
  message_type: ({ message_type }) => message_type,
  message: ({ message }) => message,
  media_type: ({ media_type }) => media_type,
  media_url: ({ media_url }) => media_url,
  message_status: ({ message_status }) => message_status,
  voice_note_transcription: ({ voice_note_transcription }) => voice_note_transcription,
  assignee: ({ assignee }) => assignee?.email ?? null,
  reactions: ({ reactions }) => reactions.map(({ emoji, sender_type }) => `${emoji} ${sender_type}`).join('; '),
  context_message_id: ({ context_message_id }) => context_message_id,
  error: ({ error }) => error && `${error.code}: ${error.text}`,
  content: ({ content }) => content && JSON.stringify(content),
  business_number: ({ business_number: number }) => number && (number.phone_number ?? number.phone_number_id),
}

/**
 * A conversation as one file, oldest message first, up to the message that is newest now. It is read from the database
 * while it is streamed. Throws while streaming if the contact is erased, or the
 * history of a phone comes for it.
 */
export function exportConversation(
  ctx: Pick<Context, 'database' | 'mediaLinks'>,
  organization: Organization,
  contact: Contact,
  format: ExportFormat,
): AsyncGenerator<string> {
  const shown = present(ctx, organization, eachMessage(ctx, organization, contact))
  return format === 'json' ? writeJsonList('messages', shown) : writeCsv(Object.keys(COLUMNS), toRows(shown))
}

async function* eachMessage(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  { id, pruned_seq, last_seq: last }: Contact,
): AsyncGenerator<ShownMessage> {
  for (let from = pruned_seq + 1; from <= last; from += STEP) {
    const to = Math.min(last, from + STEP - 1)
    const messages = await findMessagesBySeq(ctx.database, organization.id, id, { from, to })
    // The numbers have no gaps, so a missing message means that the contact was erased or merged, or that the oldest
    // messages were deleted meanwhile.
    if (messages.length <= to - from && !(await isRest(ctx, organization, id, to - messages.length)))
      throw new Error(`the contact ${id} was erased or merged while it was exported`)
    yield* messages
  }
  // Numbers may have fallen below those that were read already.
  const now = await findContactById(ctx.database, organization.id, id)
  if (now !== null && now.pruned_seq < pruned_seq)
    throw new Error(`the history of a phone came for the contact ${id} while it was exported: export it again`)
}

/** Whether the messages up to this number were deleted by retention. */
async function isRest(
  { database }: Pick<Context, 'database'>,
  { id: organizationId }: Organization,
  contactId: string,
  seq: number,
): Promise<boolean> {
  const contact = await findContactById(database, organizationId, contactId)
  return contact !== null && contact.pruned_seq >= seq
}

async function* present(
  ctx: Pick<Context, 'database' | 'mediaLinks'>,
  organization: Organization,
  messages: AsyncIterable<ShownMessage>,
): AsyncGenerator<Shown> {
  const numbers = await findBusinessNumbers(ctx, organization.id)
  for await (const message of messages) yield presentMessageOf(message, ctx.mediaLinks.urlOf, numbers)
}

async function* toRows(messages: AsyncIterable<Shown>): AsyncGenerator<string[]> {
  for await (const message of messages) yield Object.values(COLUMNS).map((toCell) => toCell(message) ?? '')
}
