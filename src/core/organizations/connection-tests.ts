import type { Context } from '../../context.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { StorefrontCheck, UpstreamCheck } from '../../model/organizations/settings.js'
import { findStorefrontSettings } from '../../storage/organizations/organizations.js'
import type { CheckOrdersOutcome } from '../../storefront/client.js'
import type { CheckTemplatesOutcome, FindNumberOutcome } from '../../upstream/client.js'
import { openBusinessNumber } from './business-number.js'
import { missingSetting } from './missing-setting.js'
import { openShop } from './shop.js'

/** The upstream settings to test; absent fields are taken from the stored ones. */
export interface UpstreamTrial {
  phone_number_id?: string | undefined
  business_account_id?: string | undefined
  access_token?: string | undefined
  app_secret?: string | undefined
}

/** The storefront settings to test; absent fields are taken from the stored ones. */
export interface StorefrontTrial {
  url?: string | undefined
  access_token?: string | undefined
}

/**
 * Reads the number and the templates at the upstream, as the service would, and describes problems in the checks.
 * Changes nothing. Throws missing_field for a field that is neither given nor stored.
 */
export async function testUpstream(ctx: Context, tenant: Tenant, given: UpstreamTrial): Promise<UpstreamCheck[]> {
  const stored = tenant.upstream
  const phoneNumberId = given.phone_number_id ?? stored?.phone_number_id ?? missingSetting('phone_number_id')
  const businessAccountId =
    given.business_account_id ?? stored?.business_account_id ?? missingSetting('business_account_id')
  const known = stored && openBusinessNumber(ctx, tenant.id, stored)
  const accessToken = given.access_token ?? known?.accessToken ?? missingSetting('access_token')
  const access = { accessToken, appSecret: given.app_secret ?? known?.appSecret }
  const timeoutMs = ctx.upstreamTimeoutMs
  const [number, templates] = await Promise.all([
    ctx.upstream.findNumber({ phoneNumberId, ...access }, timeoutMs),
    ctx.upstream.checkTemplates({ businessAccountId, ...access }, timeoutMs),
  ])
  return [
    withoutToken({ check: 'number', ...judgeNumber(number, phoneNumberId) }, accessToken),
    withoutToken({ check: 'templates', ...judgeTemplates(templates, businessAccountId) }, accessToken),
  ]
}

/** Reads orders of a storefront; otherwise like testUpstream. The stored token is sent only to the stored address. */
export async function testStorefront(
  ctx: Context,
  organizationId: string,
  given: StorefrontTrial,
): Promise<StorefrontCheck[]> {
  const settings = await findStorefrontSettings(ctx.database, organizationId)
  const stored = settings && openShop(ctx, organizationId, settings)
  const url = given.url ?? stored?.url ?? missingSetting('url')
  const storedToken = stored?.url === url ? stored.accessToken : null
  const accessToken = given.access_token ?? storedToken ?? missingSetting('access_token', stored?.url)
  const outcome = await ctx.storefront.checkOrders({ url, accessToken }, ctx.clock())
  return [withoutToken({ check: 'orders', ...judgeOrders(outcome, url) }, accessToken)]
}

type Verdict = { ok: boolean; message: string }

function judgeNumber(asked: FindNumberOutcome, id: string): Verdict {
  switch (asked.outcome) {
    case 'found':
      return good(`The access token opens the number ${id}`)
    case 'refused':
      return asked.because === 'credentials'
        ? tokenRefused(asked.text)
        : bad(
            `The access token opens no number ${id}: give the number's id, not the number itself, and a token of its owner`,
            asked.text,
          )
    case 'failed':
      return notReached(asked.text)
  }
}

function judgeTemplates(asked: CheckTemplatesOutcome, id: string): Verdict {
  switch (asked.outcome) {
    case 'readable':
      return good(`The access token reads the templates of the business account ${id}`)
    case 'refused':
      return asked.because === 'credentials'
        ? tokenRefused(asked.text)
        : bad(
            `The access token opens no business account ${id}: check the id, and that the token may manage its templates`,
            asked.text,
          )
    case 'limited':
      return bad('The upstream has been asked too often: wait a moment and try again', asked.text)
    case 'failed':
      return notReached(asked.text)
  }
}

function judgeOrders(asked: CheckOrdersOutcome, url: string): Verdict {
  switch (asked.outcome) {
    case 'readable':
      return good(`The access token reads the orders of ${url}`)
    case 'credentials_rejected':
      return bad('The storefront refused the access token: give a valid one that may read orders', asked.text)
    case 'limited':
      return bad('The storefront has been asked too often: wait a moment and try again', null)
    case 'unavailable':
      return bad(`No orders could be read at ${url}: check the address, or try again later`, asked.text)
  }
}

function tokenRefused(text: string): Verdict {
  return bad('The upstream refused the access token: give a valid one, copied whole', text)
}

function notReached(text: string): Verdict {
  return bad('The upstream could not be asked: try again later', text)
}

function good(message: string): Verdict {
  return { ok: true, message }
}

function bad(message: string, said: string | null): Verdict {
  return { ok: false, message: said === null ? message : `${message} (${said})` }
}

/** The other side's error may repeat the token. */
function withoutToken<Check extends Verdict>(check: Check, accessToken: string): Check {
  return { ...check, message: check.message.replaceAll(accessToken, '…') }
}
