import type { Context } from '../../context.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import { addressesOf, readNumber } from '../../model/contacts/written-number.js'
import { normalizeTerm } from '../../model/conversations/search-terms.js'
import type { Organization } from '../../model/organizations/organization.js'
import { COUNT_LIMIT, type PageRequest, readBoundedPage } from '../../model/page.js'
import {
  type ContactPage,
  type ContactSearch,
  countFoundContacts,
  listContactPage,
  listContactsAfter,
  listFoundContacts,
  walkToFoundContacts,
} from '../../storage/contacts/lists.js'

/** Which contacts; `search`: part of a name, username or number, or a user id; null for all. */
export interface ContactListRequest extends PageRequest {
  search: string | null
}

const EXPORT_STEP = 500

/** One page of the organization's contacts, most recently active first. */
export function listContacts(
  ctx: Context,
  organization: Organization,
  { search, page, limit }: ContactListRequest,
): Promise<ContactPage> {
  if (search === null) return listAllContacts(ctx, organization.id, { page, limit })
  return findContactPage(ctx, organization.id, readContactSearch(organization, search), { page, limit })
}

/** A page of all contacts, most recently active first. */
export function listAllContacts(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  { page, limit }: PageRequest,
): Promise<ContactPage> {
  return listContactPage(database, organizationId, (page - 1) * limit, limit)
}

/** Reads a search text as part of a name, a username or a number, or as a user id. */
export function readContactSearch({ default_country }: Organization, search: string): ContactSearch {
  return {
    name: normalizeTerm(search),
    digits: readDigits(search),
    forms: addressesOf(readNumber(search, default_country, 'api')),
  }
}

/**
 * A page of the contacts whose name or number contains the search text, most recently active first, counted up to
 * `COUNT_LIMIT`. Chooses the plan that reads fewer rows. Throws invalid_parameter (page too deep).
 */
export function findContactPage(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  search: ContactSearch,
  page: PageRequest,
): Promise<ContactPage> {
  return readBoundedPage(page, 'Search for more of the name or number', async (skip, limit) => {
    const { found, all } = await countFoundContacts(database, organizationId, search)
    const size = Math.min(limit, found - skip)
    if (size <= 0) return { contacts: [], total: found }
    const find = (list: typeof listFoundContacts) => list(database, organizationId, search, { skip, limit: size })
    const isDense = found === COUNT_LIMIT || ((skip + size) * all) / found < found
    const walked = isDense ? await find(walkToFoundContacts) : []
    return { contacts: walked.length === size ? walked : await find(listFoundContacts), total: found }
  })
}

/** Every contact of the organization, in the order of creation, read from the database while it is streamed. */
export async function* eachContact(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
): AsyncGenerator<Contact> {
  let last = NIL_UUID
  for (;;) {
    const contacts = await listContactsAfter(ctx.database, organization.id, last, EXPORT_STEP)
    yield* contacts
    if (contacts.length < EXPORT_STEP) return
    last = (contacts.at(-1) as Contact).id
  }
}

/** The digits of a part of a number, without the leading zeros of national or dialled numbers; null for other text. */
function readDigits(search: string): string | null {
  if (!/^[+\d\s().\-/]+$/.test(search)) return null
  return search.replaceAll(/\D/g, '').replace(/^0+/, '') || null
}
