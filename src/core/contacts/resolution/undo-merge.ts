import type { Context } from '../../../context.js'
import { retryOnConflict } from '../../../database/retry.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { type ListedMerge, UNDO_MS } from '../../../model/contacts/merge.js'
import { userIdChatId } from '../../../model/contacts/phone-number.js'
import { Problem } from '../../../model/problem.js'
import { sentence } from '../../../model/sentence.js'
import {
  listMerges,
  lockMerge,
  type SplitAddresses,
  type UndoneMerge,
  undoMerge,
} from '../../../storage/contacts/unmerges.js'

/**
 * How many messages may get another number by an undo: those that move back, and all that came after them. The request
 * has both contacts locked meanwhile, and callbacks of the organization wait.
 */
const MAX_RENUMBERED = 20_000

/** The contacts that became part of this one and can be separated again, the last one first; at most 100. */
export function listUndoableMerges(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  contactId: string,
): Promise<ListedMerge[]> {
  return listMerges(database, organizationId, contactId, undoableSince(clock()))
}

/**
 * Separates the two contacts of a merge. Both keep what they had before it; what came later stays with the one that was
 * kept, and opt-outs with both. The two do not become one again unless the upstream announces it. Resolves to the
 * restored contact. Throws not_found (also if it is too old or undone), merge_not_last,
 * and merge_too_large.
 */
export function undoMergeOf(
  { database, clock, notifications }: Pick<Context, 'database' | 'clock' | 'notifications'>,
  organizationId: string,
  mergeId: string,
): Promise<Contact> {
  const now = clock()
  return retryOnConflict(async () => {
    const restored = await database.transaction(async (transaction) => {
      const merge = await lockMerge(transaction, organizationId, mergeId, undoableSince(now))
      if (merge === null) {
        throw new Problem('not_found', `No merge with the id ${mergeId} of the last 30 days that is not undone yet`)
      }
      if (merge.has_later) {
        const message = 'Another contact became part of this one later: undo the last merge first'
        throw new Problem('merge_not_last', message)
      }
      const renumbered = merge.moved > 0 ? merge.moved + merge.later : 0
      if (renumbered > MAX_RENUMBERED) {
        const values = { messages: renumbered, limit: MAX_RENUMBERED }
        throw new Problem('merge_too_large', sentence('too_many_renumbered', values))
      }
      return undoMerge(transaction, organizationId, merge, { ...splitAddresses(merge), at: now })
    })
    // Pending deliveries are cached in memory with their contacts.
    notifications.send({ topic: 'webhooks', organizationId })
    return restored
  })
}

function undoableSince(now: Date): Date {
  return new Date(now.getTime() - UNDO_MS)
}

/** Each contact gets its number back, unless another contact has it by now. */
function splitAddresses(merge: UndoneMerge): SplitAddresses {
  const { kept_id, gone_id } = merge
  return {
    kept: merge.has_kept_chat_id
      ? { chat_id: merge.kept_chat_id, phone_number: merge.kept_phone_number }
      : withoutNumber(kept_id),
    gone: merge.has_gone_chat_id
      ? { chat_id: merge.gone_chat_id, phone_number: merge.gone_phone_number }
      : withoutNumber(gone_id),
  }
}

function withoutNumber(id: string): Pick<Contact, 'chat_id' | 'phone_number'> {
  return { chat_id: userIdChatId(`contact:${id}`), phone_number: null }
}
