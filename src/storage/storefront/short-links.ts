import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import { readShortCode, type ShortLink } from '../../model/broadcasts/short-link.js'
import { directoryHash, UNLESS_HELD } from '../organizations/directory.js'

const COLUMNS = 'code, redirect_url, created_at'

const insert = statement<ShortLink>(
  'shortLinks.insert',
  `WITH claimed AS (
     INSERT INTO directory (kind, value_hash, organization_id) VALUES ('short_link', $5, $1)
     ${UNLESS_HELD}
     RETURNING organization_id
   )
   INSERT INTO short_links (organization_id, code, redirect_url, utm_campaign)
   SELECT organization_id, $2, $3, $4 FROM claimed
   RETURNING ${COLUMNS}`,
)

const find = statement<ShortLink>(
  'shortLinks.find',
  `SELECT ${COLUMNS} FROM short_links WHERE organization_id = $1 AND code = $2`,
)

const count = statement<{ total: number }>(
  'shortLinks.count',
  'SELECT count(*) AS total FROM short_links WHERE organization_id = $1',
)

const listPage = statement<ClickedLink>(
  'shortLinks.page',
  `SELECT ${COLUMNS}, s.clicks + (
     SELECT coalesce(sum(change), 0)::bigint FROM short_link_clicks c WHERE c.organization_id = $1 AND c.code = s.code
   ) AS clicks
   FROM short_links s
   WHERE organization_id = $1
   ORDER BY created_at DESC, code DESC
   OFFSET $2 LIMIT $3`,
)

const follow = sharedStatement<{ code: string; redirect_url: string }>(
  'shortLinks.follow',
  `WITH asked AS (
     SELECT * FROM unnest($1::bytea[], $2::text[], $3::bigint[]) AS asked (value_hash, code, clicks)
   ), found AS (
     SELECT s.organization_id, s.code, s.redirect_url, asked.clicks
     FROM asked
     JOIN directory d ON d.kind = 'short_link' AND d.value_hash = asked.value_hash
     JOIN organizations o ON o.id = d.organization_id
     JOIN short_links s ON s.organization_id = d.organization_id AND s.code = asked.code
   ), counted AS (
     INSERT INTO short_link_clicks (organization_id, code, change)
     SELECT organization_id, code, clicks FROM found WHERE clicks > 0
   ), visited AS (
     INSERT INTO short_link_visits (organization_id, code, visited_at)
     SELECT organization_id, code, $4 FROM found WHERE clicks > 0
   )
   SELECT code, redirect_url FROM found`,
)

// Also of an organization that is suspended or deleted.
const findHolder = sharedStatement<{ organization_id: string }>(
  'shortLinks.findHolder',
  `SELECT organization_id FROM directory WHERE kind = 'short_link' AND value_hash = $1`,
)

// Rows added meanwhile are not seen and stay.
const rollUpClicks = sharedStatement<never>(
  'shortLinks.foldClicks',
  `WITH folded AS (
     DELETE FROM short_link_clicks RETURNING organization_id, code, change
   ), summed AS (
     SELECT organization_id, code, sum(change) AS clicks FROM folded GROUP BY organization_id, code
   )
   UPDATE short_links s SET clicks = s.clicks + summed.clicks
   FROM summed
   WHERE s.organization_id = summed.organization_id AND s.code = summed.code`,
)

const pruneOldVisits = sharedStatement<{ count: number }>(
  'shortLinks.pruneVisits',
  `WITH pruned AS (
     DELETE FROM short_link_visits
     WHERE (organization_id, code, visited_at, id) IN (
       SELECT organization_id, code, visited_at, id FROM short_link_visits WHERE visited_at < $1 LIMIT $2
     )
     RETURNING id
   )
   SELECT count(*) AS count FROM pruned`,
)

const listCampaigns = statement<{ code: string; utm_campaign: string }>(
  'shortLinks.listCampaigns',
  `SELECT code, utm_campaign FROM short_links
   WHERE organization_id = $1 AND code = ANY ($2::text[]) AND utm_campaign IS NOT NULL`,
)

/** Inserts a link; null if any organization has the code. `utmCampaign` is normalized. */
export async function insertShortLink(
  db: Queryable,
  organizationId: string,
  link: { code: string; redirectUrl: string; utmCampaign: string | null },
): Promise<ShortLink | null> {
  const { code, redirectUrl, utmCampaign } = link
  const rows = await db.run(insert, [organizationId, code, redirectUrl, utmCampaign, directoryHash(code)])
  return rows[0] ?? null
}

/** One of the organization's links, or null. */
export async function findShortLink(db: Queryable, organizationId: string, code: string): Promise<ShortLink | null> {
  const rows = await db.run(find, [organizationId, code])
  return rows[0] ?? null
}

/** A link with its number of clicks. */
export type ClickedLink = ShortLink & { clicks: number }

/** One page of an organization's links, newest first, and the number on all pages. */
export async function listShortLinkPage(
  db: Queryable,
  organizationId: string,
  skip: number,
  limit: number,
): Promise<{ links: ClickedLink[]; total: number }> {
  const [links, [counted]] = await Promise.all([
    db.run(listPage, [organizationId, skip, limit]),
    db.run(count, [organizationId]),
  ])
  return { links, total: counted?.total ?? 0 }
}

/** The organization that holds a code, even one that is suspended or deleted; null if nobody does. */
export async function findHolderOfCode(db: Queryable, code: string): Promise<string | null> {
  const [holder] = await db.run(findHolder, [directoryHash(code)])
  return holder?.organization_id ?? null
}

/** Visits of one code. */
export interface Clicks {
  code: string
  /** 0 if it is only looked up. */
  clicks: number
}

/**
 * The targets of links by their codes, of all organizations. Stores their clicks and visits at `at` in the same
 * statement. Each code once.
 */
export async function followShortLinks(
  db: Queryable,
  asked: readonly Clicks[],
  at: Date,
): Promise<Map<string, string>> {
  const codes = asked.map(({ code }) => code)
  const rows = await db.run(follow, [codes.map(directoryHash), codes, asked.map(({ clicks }) => clicks), at])
  return new Map(rows.map((row) => [row.code, row.redirect_url]))
}

/** Rolls up the added clicks. Of all tenants. */
export async function rollUpShortLinkClicks(db: Queryable): Promise<void> {
  await db.run(rollUpClicks, [])
}

/** Deletes up to `limit` visits before `before`; resolves to how many. Of all tenants. */
export async function pruneShortLinkVisits(db: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await db.run(pruneOldVisits, [before, limit])
  return row?.count ?? 0
}

/** The utm_campaigns of an organization's links by their codes, spelled as in the links. */
export async function findLinkCampaigns(
  db: Queryable,
  organizationId: string,
  codes: readonly string[],
): Promise<Map<string, string>> {
  if (codes.length === 0) return new Map()
  const rows = await db.run(listCampaigns, [organizationId, codes])
  return new Map(rows.map(({ code, utm_campaign }) => [code, utm_campaign]))
}

/**
 * The campaigns of an organization's links with these codes, spelled as in the links, each once, in the order of the
 * codes. A code may be the whole value of a button parameter (model/broadcasts/short-link, readShortCode).
 */
export async function resolveUtmCampaigns(
  db: Queryable,
  organizationId: string,
  codes: readonly string[],
): Promise<string[]> {
  const uniqueCodes = [...new Set(codes.map(readShortCode))].filter((code) => code !== null)
  const campaigns = await findLinkCampaigns(db, organizationId, uniqueCodes)
  return [...new Set(uniqueCodes.map((code) => campaigns.get(code)))].filter((campaign) => campaign !== undefined)
}
