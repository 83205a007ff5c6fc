import type { Queryable } from '../database/pool.js'
import { opaqueArray, statement } from '../database/statement.js'
import type { Contact } from '../model/contact.js'
import { QUALIFIED_CONTACT_COLUMNS } from './contacts.js'

/** The contacts of one page, most recently active first, and how many there are on all pages together. */
export interface ContactPage {
  contacts: Contact[]
  total: number
}

interface PageRow {
  total: number
  ids: string[]
}

const COUNT = '(SELECT coalesce(sum(change), 0) FROM contact_counts WHERE organization_id = $1)'

/** The ids of a page that begins after `$2` contacts, counted from the end that is nearer. */
const latest = (direction: 'ASC' | 'DESC', skip: string, limit: string) => `
  SELECT contact_id, active_at FROM contact_activity
  WHERE organization_id = $1
  ORDER BY active_at ${direction}, contact_id ${direction}
  OFFSET ${skip} LIMIT ${limit}`

// What OFFSET skips is read all the same: so a page of the second half is read from the other end.
const listPage = statement<PageRow>(
  'contactLists.page',
  `WITH counted AS MATERIALIZED (
     SELECT ${COUNT} AS total
   ), page AS (
     (SELECT * FROM (${latest('DESC', '$2', '$3')}) newest WHERE (SELECT $2 <= total / 2 FROM counted))
     UNION ALL
     (SELECT * FROM (
       ${latest('ASC', '(SELECT greatest(total - $2 - $3, 0) FROM counted)', '(SELECT greatest(least(total - $2, $3), 0) FROM counted)')}
     ) oldest WHERE (SELECT $2 > total / 2 FROM counted))
   )
   SELECT (SELECT total FROM counted)::float8 AS total,
     ARRAY (SELECT contact_id FROM page ORDER BY active_at DESC, contact_id DESC) AS ids`,
)

// A name holds what is looked for, or a form of the number does; or it is the number itself, written in whatever way.
const search = statement<PageRow>(
  'contactLists.search',
  `WITH found AS MATERIALIZED (
     SELECT id FROM contacts WHERE organization_id = $1 AND folded_name LIKE $2
     UNION
     SELECT contact_id FROM contact_addresses
     WHERE organization_id = $1 AND address LIKE $3 AND address NOT LIKE 'user:%'
     UNION
     SELECT contact_id FROM contact_addresses WHERE organization_id = $1 AND address = ANY (${opaqueArray('$4', 'text')})
   )
   SELECT (SELECT count(*) FROM found)::float8 AS total, ARRAY (
     SELECT a.contact_id
     FROM found CROSS JOIN LATERAL (
       SELECT contact_id, active_at FROM contact_activity WHERE organization_id = $1 AND contact_id = found.id OFFSET 0
     ) a
     ORDER BY a.active_at DESC, a.contact_id DESC
     OFFSET $5 LIMIT $6
   ) AS ids`,
)

const readAll = statement<Contact>(
  'contactLists.read',
  `SELECT ${QUALIFIED_CONTACT_COLUMNS}
   FROM unnest(${opaqueArray('$2', 'uuid')}) WITH ORDINALITY AS wanted (id, rank)
   JOIN contacts c ON c.organization_id = $1 AND c.id = wanted.id
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

// What is added meanwhile is not seen and stays.
const foldCounts = statement<never>(
  'contactLists.foldCounts',
  `WITH folded AS (
     DELETE FROM contact_counts c
     WHERE EXISTS (SELECT FROM contact_counts o WHERE o.organization_id = c.organization_id AND o.id <> c.id)
     RETURNING organization_id, change
   )
   INSERT INTO contact_counts (organization_id, change)
   SELECT organization_id, sum(change) FROM folded GROUP BY organization_id`,
)

/** What is looked for in names and numbers; null where it cannot be one. */
export interface ContactSearch {
  /** A part of a folded name. */
  name: string
  /** A part of a number's digits. */
  digits: string | null
  /** All forms of a whole number. */
  forms: readonly string[]
}

/** One page of an organization's contacts. */
export async function listContactPage(
  db: Queryable,
  organizationId: string,
  skip: number,
  limit: number,
): Promise<ContactPage> {
  return readPage(db, organizationId, await db.run(listPage, [organizationId, skip, limit]))
}

/** One page of the contacts whose name or number holds what is looked for. */
export async function searchContactPage(
  db: Queryable,
  organizationId: string,
  { name, digits, forms }: ContactSearch,
  skip: number,
  limit: number,
): Promise<ContactPage> {
  const like = (part: string) => `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
  const values = [organizationId, like(name), digits === null ? null : like(digits), forms, skip, limit]
  return readPage(db, organizationId, await db.run(search, values))
}

async function readPage(db: Queryable, organizationId: string, [row]: PageRow[]): Promise<ContactPage> {
  const { total, ids } = row ?? { total: 0, ids: [] }
  return { contacts: ids.length === 0 ? [] : await db.run(readAll, [organizationId, ids]), total }
}

/** The next contacts after one of them, in the order of their ids; the nil UUID begins. For going through all of them. */
export function listContactsAfter(
  db: Queryable,
  organizationId: string,
  id: string,
  limit: number,
): Promise<Contact[]> {
  return db.run(listAfter, [organizationId, id, limit])
}

/** Folds what was added to the counts of contacts. Of all tenants. */
export async function foldContactCounts(db: Queryable): Promise<void> {
  await db.run(foldCounts, [])
}
