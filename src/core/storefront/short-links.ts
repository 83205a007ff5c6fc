import type { Context } from '../../context.js'
import { batch } from '../../lib/async/batcher.js'
import { createTokenBuckets } from '../../lib/async/token-buckets.js'
import { sha256 } from '../../lib/crypto/signature.js'
import { checkRedirectUrl, isShortCode, type ShortLink } from '../../model/broadcasts/short-link.js'
import { readUtm } from '../../model/broadcasts/utm.js'
import { isLinkPreview } from '../../model/messages/link-preview.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import {
  type ClickedLink,
  type Clicks,
  findShortLink,
  followShortLinks,
  insertShortLink,
  listShortLinkPage,
} from '../../storage/storefront/short-links.js'

/** What a link is made from; without a code it gets one. */
export interface ShortLinkFields {
  redirect_url: string
  code?: string | undefined
}

const CODE_LENGTH = 7
const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Of 3.5 million million codes; that so many in a row are taken never happens. */
const MAX_TRIES = 5
const MAX_BATCH = 500
/** As many clicks of one network at once, and one a second after them, are counted: many phones share the address of their provider. */
const COUNTED = { burst: 100, refillMs: 1_000, maxKeys: 50_000 }

/** Makes a short link. `id` is its maker's, random: the code follows from it. Throws invalid_field, already_taken. */
export async function createShortLink(
  ctx: Context,
  organization: Organization,
  { redirect_url: redirectUrl, code }: ShortLinkFields,
  id: string,
): Promise<ShortLink> {
  checkRedirectUrl(redirectUrl)
  const { campaign: utmCampaign } = readUtm(redirectUrl)
  for (const candidate of candidates(code, id)) {
    const link = await insertShortLink(ctx.database, organization.id, { code: candidate, redirectUrl, utmCampaign })
    if (link) return link
  }
  if (code === undefined) throw new Error('no code is free')
  throw new Problem('already_taken', `The code "${code}" is taken: choose another one, or leave it out`)
}

/** The link that an attempt to make it, with the same fields and id, has left; null where it has not come to that. */
export async function recoverShortLink(
  ctx: Context,
  organization: Organization,
  { redirect_url: redirectUrl, code }: ShortLinkFields,
  id: string,
): Promise<ShortLink | null> {
  for (const candidate of candidates(code, id)) {
    const link = await findShortLink(ctx.database, organization.id, candidate)
    if (link?.redirect_url === redirectUrl) return link
  }
  return null
}

/** A page of the organization's links, newest first; the first page is 1. */
export function listShortLinks(
  ctx: Context,
  organization: Organization,
  { page, limit }: { page: number; limit: number },
): Promise<{ links: ClickedLink[]; total: number }> {
  return listShortLinkPage(ctx.database, organization.id, (page - 1) * limit, limit)
}

/** Someone who comes by a link; `looks`: only to see where it leads. */
export interface Visit {
  code: string
  userAgent: string
  /** The public network from which the visitor comes, where it is known. */
  network: string | null
  looks: boolean
}

/**
 * Makes the function that tells where a link leads, and null where there is none. When it has told, the click is stored, but
 * for those of programs that show previews, and those of a network that has clicked too often in this process. Visits that come together
 * share one statement.
 */
export function createLinkFollower(ctx: Context): (visit: Visit) => Promise<string | null> {
  const follow = batch(async (visits: Clicks[]) => {
    const addresses = await followShortLinks(ctx.database, addUp(visits), ctx.clock())
    return visits.map(({ code }) => addresses.get(code) ?? null)
  }, MAX_BATCH)
  const counted = createTokenBuckets(COUNTED, ctx.clock)
  const isClick = ({ userAgent, network, looks }: Visit) =>
    !looks && !isLinkPreview(userAgent) && (network === null || counted.take(network))
  return async (visit) => {
    return isShortCode(visit.code) ? follow({ code: visit.code, clicks: isClick(visit) ? 1 : 0 }) : null
  }
}

function addUp(visits: readonly Clicks[]): Clicks[] {
  const sums = new Map<string, number>()
  for (const { code, clicks } of visits) sums.set(code, (sums.get(code) ?? 0) + clicks)
  return [...sums].map(([code, clicks]) => ({ code, clicks }))
}

/** The code that is wanted, else those that an id gives one after the other. */
function candidates(code: string | undefined, id: string): string[] {
  if (code !== undefined) return [code]
  return Array.from({ length: MAX_TRIES }, (_, index) => codeOf(`${id} ${index}`))
}

function codeOf(seed: string): string {
  let rest = sha256(seed).readBigUInt64BE()
  let code = ''
  while (code.length < CODE_LENGTH) {
    code += BASE_62[Number(rest % 62n)]
    rest /= 62n
  }
  return code
}
