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

/** What is given a link: a broadcast, or a send-template, whose campaign is that of its template and day. */
export interface LinkSender {
  broadcastId: string
  campaignId: string
  at: Date
}

/** A parameter of a button, which may have a link's code in it. `n`: whose own it is; 0 = of all, or of a send-template. */
export interface ButtonValue {
  n: number
  value: string
}

/** Notes which of the organization's links with a campaign are given away; resolves to the campaigns, as the links have them. */
export async function noteSentLinks(
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
