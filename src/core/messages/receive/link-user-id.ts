import type { Context } from '../../../context.js'
import { contradict, findByUserId, findHolder, giveUserId, refusesUserId, takeIn } from './contact-addresses.js'
import { type Hearing, inBook, personAddresses } from './contact-resolution.js'
import type { UpstreamPerson } from './read-sender.js'

/**
 * Keeps the user id that the upstream names as the recipient of a contact's message, so that the person is known when the number is no
 * longer told; a contact of that id is joined. Where anything contradicts, all stays as it is.
 */
export async function linkRecipient(
  ctx: Context,
  organizationId: string,
  contactId: string,
  person: UpstreamPerson & { userId: string },
  hearing: Hearing,
): Promise<void> {
  const { number, all } = personAddresses(person)
  await inBook(
    ctx,
    { organizationId, ...hearing },
    all,
    async (book) => {
      const contact = book.known.contacts.find(({ id }) => id === contactId)
      if (!contact || refusesUserId(book, contact, person.userId)) return
      const holder = number && findHolder(book, number)
      if (holder && (holder.contact.id !== contact.id || holder.row.left_at !== null)) return
      const known = findByUserId(book, person.userId)
      if (known === null) await giveUserId(book, contact, person.userId)
      else if (known.id !== contact.id && !contradict(book, contact, known, number ?? { digits: '', forms: [] })) {
        await takeIn(book, contact, known)
      }
    },
    [contactId],
  )
}
