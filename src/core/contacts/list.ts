import type { Context } from '../../context.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import { readPhoneNumber } from '../../model/contacts/phone-number.js'
import { normalizeTerm } from '../../model/conversations/search-terms.js'
import type { Organization } from '../../model/organizations/organization.js'
import { MAX_DEPTH, tooDeep } from '../../model/page.js'
import {
  type ContactPage,
  type ContactSearch,
  countFoundContacts,
  listContactPage,
  listContactsAfter,
  listFoundContacts,
  walkToFoundContacts,
} from '../../storage/contacts/lists.js'

/** Which contacts: `limit` per page, the first page is 1; `search`: part of a name or a number, null for all. */
export interface ContactListRequest {
  search: string | null
  page: number
  limit: number
}

const EXPORT_STEP = 500

/** One page of the organization's contacts, most recently active first. */
export function listContacts(
  ctx: Context,
  organization: Organization,
  { search, page, limit }: ContactListRequest,
): Promise<ContactPage> {
  const skip = (page - 1) * limit
  if (search === null) return listContactPage(ctx.database, organization.id, skip, limit)
  return findContactPage(ctx, organization.id, readContactSearch(organization, search), skip, limit)
}

/** Reads a search text as part of a name or of a number. */
export function readContactSearch({ default_country }: Organization, search: string): ContactSearch {
  const reading = readPhoneNumber(search, default_country)
  return { name: normalizeTerm(search), digits: readDigits(search), forms: reading.possible ? reading.forms : [] }
}

/**
 * A page of the contacts whose name or number contains the search text, most recently active first. Chooses the plan
 * that reads fewer rows. Throws invalid_parameter (page too deep).
 */
export async function findContactPage(
  { database }: Context,
  organizationId: string,
  search: ContactSearch,
  skip: number,
  limit: number,
): Promise<ContactPage> {
  const { found, all } = await countFoundContacts(database, organizationId, search)
  if (skip >= found) return { contacts: [], total: found }
  if (skip >= MAX_DEPTH) throw tooDeep(skip / limit + 1, 'Search for more of the name or number')
  const walk = ((skip + limit) * all) / found
  const read = walk < found ? walkToFoundContacts : listFoundContacts
  return { contacts: await read(database, organizationId, search, skip, limit), total: found }
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
