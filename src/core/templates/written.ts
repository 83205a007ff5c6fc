import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { StoredTemplate, Template } from '../../model/templates/template.js'
import {
  enqueueTemplateSync,
  findTemplateSync,
  findTemplates,
  putTemplates,
  type TemplateKey,
} from '../../storage/templates/templates.js'
import type { BusinessAccount, TemplateFailure } from '../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from '../organizations/business-number.js'
import { toRow } from './sync.js'
import { toProblem } from './upstream-failure.js'

/** Of writing a template and reading it back; it begins when files are transferred and templates are fetched. */
export const BUDGET_MS = 25_000
/** The statuses in which the upstream lets a template be edited. */
export const EDITABLE = ['APPROVED', 'REJECTED', 'PAUSED']

/** The business account of an organization. Throws invalid_provider. */
export function openAccount(ctx: Pick<Context, 'secrets'>, tenant: Tenant): BusinessAccount {
  const upstream = requireUpstream(tenant)
  return { ...openBusinessNumber(ctx, tenant.id, upstream), businessAccountId: upstream.business_account_id }
}

/** The organization's template of exactly this name and language; null if it is unknown. */
export async function findExact(
  { database }: Pick<Context, 'database'>,
  tenant: Tenant,
  { name, language }: TemplateKey,
): Promise<StoredTemplate | null> {
  const ofName = await findTemplates(database, tenant.id, name)
  return ofName.find((template) => template.language === language) ?? null
}

/**
 * Reads a template that was created or edited from the upstream, and records it with its events. If it cannot be read,
 * `assumed` is returned, and a job fetches all templates.
 */
export async function recordWritten(
  ctx: Context,
  tenant: Tenant,
  { account, upstreamId, assumed }: { account: BusinessAccount; upstreamId: string; assumed: Template },
  timeoutMs: number,
): Promise<Template> {
  const last = await findTemplateSync(ctx.database, tenant.id)
  const read = timeoutMs > 0 ? await ctx.upstream.findTemplate(account, upstreamId, timeoutMs) : null
  if (last === null || read?.outcome !== 'found') {
    await enqueueTemplateSync(ctx.database, tenant.id)
    return assumed
  }
  const row = { ...toRow(read.template), event_id: newId(), update_event_id: newId(), quality_event_id: newId() }
  await putTemplates(ctx.database, tenant.id, [row], last.now)
  return (await findExact(ctx, tenant, read.template)) ?? row
}

/** Throws the problem of a call that failed. If it may have had its effect, a job fetches the templates first. */
export async function failWith(
  { database }: Pick<Context, 'database'>,
  tenant: Tenant,
  failure: TemplateFailure,
  what: string,
): Promise<never> {
  if (failure.outcome === 'unknown') await enqueueTemplateSync(database, tenant.id)
  throw toProblem(failure, what)
}
