import type { Context } from '../../context.js'
import { startCountdown } from '../../lib/async/timeout.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { TemplateEdit } from '../../model/templates/manage-input.js'
import { checkTemplate } from '../../model/templates/rules/check.js'
import { readDraft } from '../../model/templates/rules/draft.js'
import type { StoredTemplate, Template } from '../../model/templates/template.js'
import { enqueueTemplateSync, type TemplateKey } from '../../storage/templates/templates.js'
import { refuseFaults, toWire } from './create.js'
import { withHandles } from './examples.js'
import { requireTemplate } from './require.js'
import { BUDGET_MS, EDITABLE, failWith, openAccount, recordWritten } from './written.js'

/**
 * Changes a template at the upstream, which reviews it again, and records it. Throws missing_field, invalid_field (the
 * first fault), invalid_provider, template_not_found, template_state, invalid_media, template_rejected,
 * upstream_credentials, upstream_unavailable, too_many_requests, outcome_unknown.
 */
export async function editTemplate(
  ctx: Context,
  tenant: Tenant,
  key: TemplateKey,
  edit: TemplateEdit,
): Promise<Template> {
  const { components: given, message_send_ttl_seconds: seconds } = edit
  if (!given && !edit.category && (seconds === undefined || seconds === null)) {
    throw new Problem('missing_field', 'components, category or message_send_ttl_seconds is required')
  }
  const account = openAccount(ctx, tenant)
  const { upstreamId, ...known } = await requireTemplate(ctx, tenant, key)
  const draft = readDraft({
    ...key,
    category: edit.category ?? known.category,
    parameter_format: known.parameter_format,
    components: given ?? known.components,
    message_send_ttl_seconds: seconds,
  })
  // The upstream lists some parts in another form than it takes them, and those that stay are not sent.
  const isSent = (field: string) => given || !field.startsWith('components')
  refuseFaults(checkTemplate(draft).filter(({ field }) => isSent(field)))
  checkState(known, draft.category)
  const components = given ? await withHandles(ctx, tenant, account, draft.components) : null
  const fields = {
    ...(components && { components: components.map(toWire) }),
    ...(draft.category !== known.category && { category: draft.category }),
    ...(draft.message_send_ttl_seconds !== null && { message_send_ttl_seconds: draft.message_send_ttl_seconds }),
  }
  if (Object.keys(fields).length === 0) return known
  const leftMs = startCountdown(BUDGET_MS)
  const edited = await ctx.upstream.editTemplate(account, { upstreamId, fields }, leftMs())
  // It may have been changed or deleted at the upstream.
  if (edited.outcome === 'refused') await enqueueTemplateSync(ctx.database, tenant.id)
  if (edited.outcome !== 'done') return failWith(ctx, tenant, edited, `change the template "${key.name}"`)
  const assumed = { ...known, category: draft.category, components: components ?? known.components }
  return recordWritten(ctx, tenant, { account, upstreamId, assumed }, leftMs())
}

function checkState({ name, language, status, category }: StoredTemplate, wanted: string): void {
  if (!EDITABLE.includes(status)) {
    const message = `The template "${name}" in ${language} is ${status}, and WhatsApp takes edits only of templates that are ${EDITABLE.join(', ')}`
    throw new Problem('template_state', message)
  }
  if (status !== 'APPROVED' || wanted === category) return
  const message = `The template "${name}" in ${language} is APPROVED, and its category ${category} cannot be changed any more: create another one`
  throw new Problem('template_state', message)
}
