import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { isKnownToTrigrams, likeContaining } from '../../lib/text/like.js'
import type { Contact } from '../../model/contacts/contact.js'
import { COUNT_LIMIT } from '../../model/page.js'
import { QUALIFIED_CONTACT_COLUMNS } from './contacts.js'

/** One page of contacts, most recently active first, and the number of contacts on all pages. */
export interface ContactPage {
  contacts: Contact[]
  total: number
}

interface PageRow {
  total: number
  ids: string[]
}

const COUNT = '(SELECT coalesce(sum(change), 0) FROM contact_counts WHERE organization_id = $1)'

// Reads the index alone, from the nearer end.
const listPage = statement<PageRow>(
  'contactLists.page',
  `WITH counted AS MATERIALIZED (SELECT ${COUNT}::bigint AS total)
   SELECT total, CASE WHEN $2 <= total / 2 THEN ARRAY (
     SELECT contact_id FROM contact_activity
     WHERE organization_id = $1
     ORDER BY active_at DESC, contact_id DESC
     OFFSET $2 LIMIT $3
   ) ELSE ARRAY (
     SELECT contact_id FROM (
       SELECT contact_id, active_at FROM contact_activity
       WHERE organization_id = $1
       ORDER BY active_at, contact_id
       OFFSET greatest(total - $2 - $3, 0) LIMIT greatest(least($3, total - $2), 0)
     ) page
     ORDER BY active_at DESC, contact_id DESC
   ) END AS ids
   FROM counted`,
)

/**
 * The contacts whose username contains the search text, whose number has a form that contains its digits, or that have
 * exactly this number or user id in any spelling.
 */
export const BY_ADDRESS = (repeated: 'ALL' | '') => `
  SELECT contact_id AS id FROM contact_usernames WHERE organization_id = $1 AND username LIKE $2
  UNION ${repeated}
  SELECT contact_id FROM contact_addresses
  WHERE organization_id = $1 AND address LIKE $3 AND address NOT LIKE '%:%'
  UNION ${repeated}
  SELECT contact_id FROM contact_addresses WHERE organization_id = $1 AND address = ANY ($4::text[])`

/** More than a contact has, so that this many addresses and usernames belong to more contacts than are counted. */
const ADDRESSES_OF_COUNTED = 10 * COUNT_LIMIT

const countBy = (nameFits: string) => `
   SELECT ${COUNT}::float8 AS all, (
     SELECT count(*) FROM (
       SELECT FROM contacts WHERE organization_id = $1 AND ${nameFits}
       UNION ALL
       SELECT FROM (SELECT DISTINCT id FROM (${BY_ADDRESS('ALL')} LIMIT ${ADDRESSES_OF_COUNTED}) numbers) numbered
         JOIN contacts c ON c.organization_id = $1 AND c.id = numbered.id
       WHERE (c.folded_name LIKE $2) IS NOT TRUE
       LIMIT ${COUNT_LIMIT}
     ) matches
   )::float8 AS found`

const countFound = statement<FoundCount>('contactLists.countFound', countBy('folded_name LIKE $2'), { isHeavy: true })

// IS TRUE keeps the name index from being used.
const countByReading = statement<FoundCount>('contactLists.countByReading', countBy('(folded_name LIKE $2) IS TRUE'), {
  isHeavy: true,
})

// One look-up per contact; without OFFSET 0 all of contact_activity would be read and joined.
const listFound = statement<{ id: string }>(
  'contactLists.listFound',
  `SELECT a.contact_id AS id
   FROM (SELECT id FROM contacts WHERE organization_id = $1 AND folded_name LIKE $2 UNION ${BY_ADDRESS('')}) found
   CROSS JOIN LATERAL (
     SELECT contact_id, active_at FROM contact_activity
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = found.id
     OFFSET 0
   ) a
   ORDER BY a.active_at DESC, a.contact_id DESC
   OFFSET $5 LIMIT $6`,
  { isHeavy: true },
)

/** How many of the most recently active contacts are tested one by one. */
const MAX_WALK = 100_000

// OFFSET 0: contacts are tested one by one until the page is full.
const walkToFound = statement<{ id: string }>(
  'contactLists.walkToFound',
  `SELECT a.contact_id AS id
   FROM (
     SELECT contact_id, active_at FROM contact_activity
     WHERE organization_id = $1
     ORDER BY active_at DESC, contact_id DESC
     LIMIT ${MAX_WALK}
   ) a CROSS JOIN LATERAL (
     SELECT FROM contacts c
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = a.contact_id AND (c.folded_name LIKE $2
       OR '@' || lower(c.username) LIKE $2 OR EXISTS (
       SELECT FROM contact_addresses n
       WHERE ${ofOrganization('n.organization_id', '$1::uuid')} AND n.contact_id = c.id
         AND ((n.address LIKE $3 AND n.address NOT LIKE '%:%') OR n.address = ANY ($4))
     ))
     OFFSET 0
   ) fits
   ORDER BY a.active_at DESC, a.contact_id DESC
   OFFSET $5 LIMIT $6`,
  { isHeavy: true },
)

const readAll = statement<Contact>(
  'contactLists.read',
  `SELECT ${QUALIFIED_CONTACT_COLUMNS}
   FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (id, rank)
   CROSS JOIN LATERAL (
     SELECT * FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = wanted.id OFFSET 0
   ) c
   ORDER BY wanted.rank`,
)

const listAfter = statement<Contact>(
  'contactLists.after',
  `SELECT ${QUALIFIED_CONTACT_COLUMNS}
   FROM contacts c
   WHERE c.organization_id = $1 AND c.id > $2
   ORDER BY c.id
   LIMIT $3`,
)

// Rows added meanwhile are not seen and stay.
const rollUpCounts = sharedStatement<never>(
  'contactLists.foldCounts',
  `WITH folded AS (
     DELETE FROM contact_counts c
     WHERE EXISTS (SELECT FROM contact_counts o WHERE o.organization_id = c.organization_id AND o.id <> c.id)
     RETURNING organization_id, change
   )
   INSERT INTO contact_counts (organization_id, change)
   SELECT organization_id, sum(change) FROM folded GROUP BY organization_id`,
)

/** The patterns of a search in names, usernames and numbers; null if the text cannot match. */
export interface ContactSearch {
  /** Part of a normalized name, or of a username. */
  name: string
  /** Part of a number's digits. */
  digits: string | null
  /** All forms of a complete number. */
  forms: readonly string[]
}

/** One page of an organization's contacts; costs the reading of all between it and the nearer end of the list. */
export async function listContactPage(
  db: Queryable,
  organizationId: string,
  skip: number,
  limit: number,
): Promise<ContactPage> {
  const [row] = await db.run(listPage, [organizationId, skip, limit])
  const { total, ids } = row as PageRow
  return { contacts: await readContacts(db, organizationId, ids), total }
}

/** How many contacts match a search, up to `COUNT_LIMIT`, and how many there are. */
export interface FoundCount {
  found: number
  all: number
}

/** Counts the contacts that match a search. */
export async function countFoundContacts(
  db: Queryable,
  organizationId: string,
  search: ContactSearch,
): Promise<FoundCount> {
  const count = isKnownToTrigrams(search.name) ? countFound : countByReading
  const [row] = await db.run(count, [organizationId, ...toPatterns(search)])
  return row as FoundCount
}

/** A page of the matches, by finding all of them; fast if there are few. */
export const listFoundContacts = pageOf(listFound)

/**
 * The same, by testing the most recently active contacts one after the other; fast if many match and the page is one of
 * the first. Matches among less active contacts are left out.
 */
export const walkToFoundContacts = pageOf(walkToFound)

function pageOf(find: typeof listFound) {
  return async (
    db: Queryable,
    organizationId: string,
    search: ContactSearch,
    { skip, limit }: { skip: number; limit: number },
  ): Promise<Contact[]> => {
    const rows = await db.run(find, [organizationId, ...toPatterns(search), skip, limit])
    return readContacts(
      db,
      organizationId,
      rows.map(({ id }) => id),
    )
  }
}

/** The parameters of BY_ADDRESS and the statements with it: name, digits and forms. */
export function toPatterns({ name, digits, forms }: ContactSearch): [string, string | null, readonly string[]] {
  return [likeContaining(name), digits === null ? null : likeContaining(digits), forms]
}

/** The contacts with these ids, in the given order. */
export async function readContacts(db: Queryable, organizationId: string, ids: readonly string[]): Promise<Contact[]> {
  return ids.length === 0 ? [] : db.run(readAll, [organizationId, ids])
}

/** The next contacts in the order of their ids; the nil UUID starts. For reading all contacts. */
export function listContactsAfter(
  db: Queryable,
  organizationId: string,
  id: string,
  limit: number,
): Promise<Contact[]> {
  return db.run(listAfter, [organizationId, id, limit])
}

/** Rolls up the changes of the contact counts. Of all tenants. */
export async function rollUpContactCounts(db: Queryable): Promise<void> {
  await db.run(rollUpCounts, [])
}
