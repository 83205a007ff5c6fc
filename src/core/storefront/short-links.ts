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
  findHolderOfCode,
  findShortLink,
  followShortLinks,
  insertShortLink,
  listShortLinkPage,
} from '../../storage/storefront/short-links.js'
import { whereMoved } from '../organizations/suspension.js'

/** The fields of a new link; without a code, one is generated. */
export interface ShortLinkFields {
  redirect_url: string
  code?: string | undefined
}

const CODE_LENGTH = 7
const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** There are 3.5 trillion codes, so this many collisions in a row do not happen. */
const MAX_TRIES = 5
const MAX_BATCH = 500
/**
 * How many clicks of one network are counted: 100 at once, then one per second. Many phones share an address of their
 * mobile network.
 */
const CLICK_LIMIT = { burst: 100, refillMs: 1_000, maxKeys: 50_000 }

/**
 * Creates a short link. `id` is random and chosen by the caller; generated codes are derived from it. Throws
 * invalid_field, already_taken.
 */
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

/** The link that an earlier attempt with the same fields and id created; null if it did not. */
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

/** A visit of a link; `looks`: only to see where it leads (HEAD). */
export interface Visit {
  code: string
  userAgent: string
  /** The public network of the visitor, if known. */
  network: string | null
  isLookup: boolean
}

/** Where a link leads; `isMoved`: to the same link at another cell. */
export interface Target {
  url: string
  isMoved: boolean
}

/**
 * Returns a function that resolves to the target of a link, or null if there is no such link; it throws
 * organization_suspended. The click is stored afterwards, except clicks of link previews and of networks over the limit
 * in this process. Visits of the same moment share one statement.
 */
export function createLinkFollower(ctx: Context): (visit: Visit) => Promise<Target | null> {
  const follow = batch(async (visits: Clicks[]) => {
    const addresses = await followShortLinks(ctx.database, addUp(visits), ctx.clock())
    return visits.map(({ code }) => addresses.get(code) ?? null)
  }, MAX_BATCH)
  const counted = createTokenBuckets(CLICK_LIMIT, ctx.clock)
  const isClick = ({ userAgent, network, isLookup }: Visit) =>
    !isLookup && !isLinkPreview(userAgent) && (network === null || counted.take(network))
  return async (visit) => {
    if (!isShortCode(visit.code)) return null
    const url = await follow({ code: visit.code, clicks: isClick(visit) ? 1 : 0 })
    return url === null ? findMoved(ctx, visit.code) : { url, isMoved: false }
  }
}

/** The link at the cell to which its organization has moved; null if there is no such link. */
async function findMoved(ctx: Context, code: string): Promise<Target | null> {
  const holder = await findHolderOfCode(ctx.database, code)
  const movedTo = holder && (await whereMoved(ctx, holder))
  return movedTo === null ? null : { url: `${movedTo}/s/${code}`, isMoved: true }
}

function addUp(visits: readonly Clicks[]): Clicks[] {
  const sums = new Map<string, number>()
  for (const { code, clicks } of visits) sums.set(code, (sums.get(code) ?? 0) + clicks)
  return [...sums].map(([code, clicks]) => ({ code, clicks }))
}

/** The requested code, or else the codes derived from an id. */
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
