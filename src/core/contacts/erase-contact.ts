import type { Context } from '../../context.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { startCountdown } from '../../lib/async/timeout.js'
import type { Contact } from '../../model/contacts/contact.js'
import { type Again, SLICE_MS } from '../../model/jobs.js'
import type { Organization } from '../../model/organizations/organization.js'
import { findContactById } from '../../storage/contacts/contacts.js'
import {
  ERASED_PARTS,
  type ErasedPart,
  eraseContactSlice,
  FIRST_ERASED,
  hideContact,
} from '../../storage/contacts/erasure.js'
import { requireNoHold } from '../organizations/legal-hold.js'
import { type ContactReference, findContact } from './contacts.js'

/** The rows of an erased contact, and how far they are deleted; the payload of a job. */
export interface ErasedRows {
  contactId: string
  /** Absent: at the beginning. */
  position?: Position
}

interface Position {
  part: ErasedPart
  /** The last row of the part that was deleted. */
  after: string
}

/**
 * Erases a contact with its messages, and raises contact.erased. Nothing shows them from now on, and the number may be
 * used for a new contact. The rows of a small one are deleted at once; jobs delete those of a large one, and its data in
 * other tables. Throws like findContact, and legal_hold.
 */
export async function eraseContact(
  ctx: Context,
  organization: Organization,
  reference: ContactReference,
): Promise<Contact> {
  const contact = await findContact(ctx, organization, reference, 'query')
  await retryOnDeadlock(() =>
    ctx.database.transaction(async (transaction) => {
      await requireNoHold(transaction, organization.id)
      if (!(await hideContact(transaction, organization.id, contact.id))) return
      // Until a slice is full: the job has the rest.
      for (const part of ERASED_PARTS) {
        const slice = { part, after: FIRST_ERASED[part] }
        const reached = await eraseContactSlice(transaction, organization.id, contact.id, slice)
        if (reached !== null) return
      }
    }),
  )
  // Deliveries about to be made are in memory.
  ctx.notifications.send({ topic: 'webhooks', organizationId: organization.id })
  return contact
}

/**
 * Deletes rows of an erased contact for a while, slice by slice. Returns when the job continues, and where; null:
 * nothing is left. Throws when `signal` aborts; finished slices stay.
 */
export async function eraseContactRows(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  { contactId, position }: ErasedRows,
  signal?: AbortSignal,
): Promise<Again | null> {
  // A job's payload alone must not be enough to delete messages.
  if (await findContactById(ctx.database, organizationId, contactId)) throw new Error(`${contactId} is not erased`)
  const leftMs = startCountdown(SLICE_MS)
  let next: Position | undefined = position ?? startOf(ERASED_PARTS[0])
  while (next !== undefined) {
    signal?.throwIfAborted()
    if (leftMs() === 0) return { againInMs: 0, payload: { contactId, position: next } }
    const { part, after }: Position = next
    const reached: string | null = await retryOnDeadlock(() =>
      ctx.database.transaction((transaction) =>
        eraseContactSlice(transaction, organizationId, contactId, { part, after }),
      ),
    )
    next = reached === null ? startOf(ERASED_PARTS[ERASED_PARTS.indexOf(part) + 1]) : { part, after: reached }
  }
  return null
}

function startOf(part: ErasedPart | undefined): Position | undefined {
  return part && { part, after: FIRST_ERASED[part] }
}
