import type { Context } from '../../context.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { StoredTemplate } from '../../model/templates/template.js'
import type { TemplateKey } from '../../storage/templates/templates.js'
import { syncTemplates } from './sync.js'
import { findExact } from './written.js'

/**
 * The organization's template of exactly this name and language, with its id at the upstream. If it is unknown, the
 * templates are fetched first, at most once a minute. Throws template_not_found, and the errors of syncTemplates.
 */
export async function requireTemplate(
  ctx: Context,
  tenant: Tenant,
  key: TemplateKey,
): Promise<StoredTemplate & { upstreamId: string }> {
  const known = await findExact(ctx, tenant, key)
  if (known?.upstream_id) return { ...known, upstreamId: known.upstream_id }
  await ctx.refreshTemplates(tenant.id, () => syncTemplates(ctx, tenant))
  const found = await findExact(ctx, tenant, key)
  if (found?.upstream_id) return { ...found, upstreamId: found.upstream_id }
  throw new Problem('template_not_found', `There is no template "${key.name}" in ${key.language}`)
}
