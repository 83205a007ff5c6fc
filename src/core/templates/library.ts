import type { Context } from '../../context.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { LibraryQuery, LibraryTemplate } from '../../upstream/client.js'
import { toProblem } from './upstream-failure.js'
import { openAccount } from './written.js'

/**
 * A page of the upstream's library of templates; `next` is the cursor of the next page. Throws invalid_provider,
 * template_rejected, upstream_credentials, upstream_unavailable, too_many_requests.
 */
export async function listLibrary(
  ctx: Context,
  tenant: Tenant,
  query: LibraryQuery,
): Promise<{ templates: LibraryTemplate[]; next: string | null }> {
  const page = await ctx.upstream.listLibrary(openAccount(ctx, tenant), query, ctx.upstreamTimeoutMs)
  if (page.outcome === 'listed') return { templates: page.templates, next: page.next }
  // Reading can always be repeated.
  const { outcome, text } = page
  throw toProblem(outcome === 'unknown' ? { outcome: 'failed', text } : page, 'list its library')
}
