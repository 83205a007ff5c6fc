import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { StoredTemplate } from '../../model/templates/template.js'
import {
  enqueueTemplateSync,
  findTemplateSync,
  findTemplates,
  removeTemplates,
} from '../../storage/templates/templates.js'
import { requireTemplate } from './require.js'
import { syncTemplates } from './sync.js'
import { failWith, openAccount } from './written.js'

/**
 * Deletes a template at the upstream, in one language or (null) in all, and its rows, which raises their events. A job
 * then fetches what the upstream keeps for a while. Resolves to the languages. Throws invalid_provider,
 * template_not_found, template_state, template_rejected, upstream_credentials, upstream_unavailable,
 * too_many_requests, outcome_unknown.
 */
export async function deleteTemplate(
  ctx: Context,
  tenant: Tenant,
  name: string,
  language: string | null,
): Promise<string[]> {
  const account = openAccount(ctx, tenant)
  const rows = await findRows(ctx, tenant, name, language)
  const disabled = rows.find(({ status }) => status === 'DISABLED')
  if (disabled) {
    const message = `The template "${name}" in ${disabled.language} is DISABLED, and WhatsApp does not let it be deleted`
    throw new Problem('template_state', message)
  }
  const last = await findTemplateSync(ctx.database, tenant.id)
  const upstreamId = language === null ? null : (rows[0]?.upstream_id ?? null)
  const deleted = await ctx.upstream.deleteTemplate(account, { name, upstreamId }, ctx.upstreamTimeoutMs)
  // It may have been deleted at the upstream.
  if (deleted.outcome === 'refused') await enqueueTemplateSync(ctx.database, tenant.id)
  if (deleted.outcome !== 'done') return failWith(ctx, tenant, deleted, `delete the template "${name}"`)
  const gone = rows.map((row) => ({ name, language: row.language, event_id: newId() }))
  await removeTemplates(ctx.database, tenant.id, gone, last?.now ?? ctx.clock())
  await enqueueTemplateSync(ctx.database, tenant.id)
  return rows.map((row) => row.language)
}

async function findRows(
  ctx: Context,
  tenant: Tenant,
  name: string,
  language: string | null,
): Promise<StoredTemplate[]> {
  if (language !== null) return [await requireTemplate(ctx, tenant, { name, language })]
  const known = await findTemplates(ctx.database, tenant.id, name)
  if (known.length > 0) return known
  await ctx.refreshTemplates(tenant.id, () => syncTemplates(ctx, tenant))
  const found = await findTemplates(ctx.database, tenant.id, name)
  if (found.length > 0) return found
  throw new Problem('template_not_found', `There is no template "${name}"`)
}
