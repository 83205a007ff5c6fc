import type { Context } from '../../context.js'
import { isForeignKeyViolation } from '../../database/errors.js'
import { newId } from '../../lib/bytes/id.js'
import type { NoteRow } from '../../model/conversations/note.js'
import type { TeamMember } from '../../model/organizations/member.js'
import { Problem } from '../../model/problem.js'
import { deleteNote, findNote, insertNote } from '../../storage/inbox/notes.js'
import { contactNotFound } from '../contacts/find.js'
import { requireNoHold } from '../organizations/legal-hold.js'

/** Writes a note for the team below the newest message of a contact; raises note.created. Throws contact_not_found. */
export async function writeNote(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  { contactId, author, text }: { contactId: string; author: Pick<TeamMember, 'id'>; text: string },
): Promise<NoteRow> {
  const note = { id: newId(), contactId, memberId: author.id, text }
  const written = await insertNote(database, organizationId, note).catch((error: unknown) => {
    // The contact was erased in the meantime.
    if (isForeignKeyViolation(error)) return null
    throw error
  })
  if (written === null) throw contactNotFound(contactId)
  return written
}

/** Deletes a note; only its author and owners of the team may. Raises note.deleted. Throws not_found, forbidden, legal_hold. */
export async function removeNote(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  noteId: string,
  by: Pick<TeamMember, 'id' | 'role'>,
): Promise<void> {
  const note = await findNote(database, organizationId, noteId)
  if (note === null) throw noteNotFound(noteId)
  if (note.member_id !== by.id && by.role !== 'owner') {
    throw new Problem(
      'forbidden',
      'Another member wrote this note: only its author and owners of the team may delete it',
    )
  }
  const isDeleted = await database.transaction(async (transaction) => {
    await requireNoHold(transaction, organizationId)
    return deleteNote(transaction, organizationId, noteId)
  })
  if (!isDeleted) throw noteNotFound(noteId)
}

function noteNotFound(noteId: string): Problem {
  return new Problem('not_found', `There is no note with the id ${noteId} in this organization`)
}
