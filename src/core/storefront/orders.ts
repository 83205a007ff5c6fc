import type { Context } from '../../context.js'
import type { SearchTerm } from '../../model/conversations/search-terms.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { findStorefrontSettings } from '../../storage/organizations/organizations.js'
import type { FindOrderOutcome, OrderReference, Shop } from '../../storefront/client.js'
import { readOrderId } from '../../storefront/client.js'
import { openShop } from '../organizations/shop.js'

/** The digits of the storefront's id of an order. Throws invalid_parameter if it has none. */
export function requireOrderId(orderId: string): string {
  const id = readOrderId(orderId)
  if (id !== null) return id
  const given = orderId.length > 64 ? `${orderId.slice(0, 64)}…` : orderId
  throw new Problem(
    'invalid_parameter',
    `orderId must be the storefront's id of an order, such as 450789469 or gid://shopify/Order/450789469, not "${given}"`,
  )
}

/**
 * The search terms for an order in a conversation: its number and its name. `id` in digits. Throws
 * storefront_not_connected, order_not_found, storefront_credentials, too_many_requests, storefront_unavailable.
 */
export async function findOrderTerms(ctx: Context, organization: Organization, id: string): Promise<SearchTerm[]> {
  const shop = await requireShop(ctx, organization)
  const { number, name } = toOrder(await ctx.storefront.findOrder(shop, id), id)
  const texts = [...new Set([number, name])].filter((text) => text !== null)
  return texts.map((text) => ({ text, isWhole: true }))
}

async function requireShop(ctx: Context, { id, name }: Organization): Promise<Shop> {
  const settings = await findStorefrontSettings(ctx.database, id)
  if (settings) return openShop(ctx, id, settings)
  throw new Problem(
    'storefront_not_connected',
    `orderId needs a storefront, and ${name} has none: connect one with PUT /admin/organizations/${id}/storefront`,
  )
}

function toOrder(found: FindOrderOutcome, id: string): OrderReference {
  switch (found.outcome) {
    case 'found':
      return found.order
    case 'not_found':
      throw new Problem('order_not_found', `The storefront has no order with the id ${id}`)
    case 'credentials_rejected':
      throw new Problem(
        'storefront_credentials',
        "The storefront refused the organization's access token: set a token that may read orders",
        { details: found.text },
      )
    case 'limited':
      throw new Problem('too_many_requests', "The storefront's rate limit is reached: wait and try again", {
        retry_after: Math.max(1, Math.ceil(found.retryAfterMs / 1_000)),
      })
    case 'unavailable':
      throw new Problem('storefront_unavailable', 'The storefront could not be reached: try again', {
        details: found.text,
        retryable: true,
      })
  }
}
