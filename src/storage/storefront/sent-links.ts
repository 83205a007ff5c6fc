import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { readShortCode } from '../../model/broadcasts/short-link.js'
import { normalizeUtm } from '../../model/broadcasts/utm.js'
import { findLinkCampaigns } from './short-links.js'

const insert = statement<never>(
  'sentLinks.insert',
  `INSERT INTO sent_links (organization_id, broadcast_id, campaign_id, n, code, campaign, noted_at)
   SELECT $1, $2, $3, l.n, l.code, l.campaign, $7
   FROM unnest($4::int[], $5::text[], $6::text[]) AS l (n, code, campaign)
   ON CONFLICT DO NOTHING`,
)

/** What gives links away: a broadcast, or a one-off send, whose campaign is that of its template and day. */
export interface LinkSender {
  broadcastId: string
  campaignId: string
  at: Date
}

/**
 * A button parameter, which may contain a link's code. `n`: the recipient whose own it is; 0: common to all, or of a
 * one-off send.
 */
export interface ButtonValue {
  n: number
  value: string
}

/** Records which links with a campaign were given away; resolves to the campaigns, spelled as in the links. */
export async function recordSentLinks(
  db: Queryable,
  organizationId: string,
  { broadcastId, campaignId, at }: LinkSender,
  values: readonly ButtonValue[],
): Promise<string[]> {
  const given = values.flatMap(({ n, value }) => {
    const code = readShortCode(value)
    return code === null ? [] : [{ n, code }]
  })
  const campaigns = await findLinkCampaigns(db, organizationId, [...new Set(given.map(({ code }) => code))])
  const links = given.filter(({ code }) => campaigns.has(code))
  if (links.length === 0) return []
  await db.run(insert, [
    organizationId,
    broadcastId,
    campaignId,
    links.map(({ n }) => n),
    links.map(({ code }) => code),
    links.map(({ code }) => normalizeUtm(campaigns.get(code) ?? '')),
    at,
  ])
  return [...new Set(campaigns.values())]
}
