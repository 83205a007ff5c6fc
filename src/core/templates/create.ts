import type { Context } from '../../context.js'
import { startCountdown } from '../../lib/async/timeout.js'
import type { JsonObject } from '../../lib/text/json.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { NewTemplate } from '../../model/templates/manage-input.js'
import { checkKey, checkTemplate } from '../../model/templates/rules/check.js'
import { type GivenDraft, readDraft, type TemplateDraft } from '../../model/templates/rules/draft.js'
import type { TemplateFault } from '../../model/templates/rules/faults.js'
import type { Template } from '../../model/templates/template.js'
import { requireUpstream } from '../organizations/business-number.js'
import { restoreAuthentication } from './authentication.js'
import { withHandles } from './examples.js'
import { syncTemplates } from './sync.js'
import { BUDGET_MS, EDITABLE, failWith, findExact, openAccount, recordWritten } from './written.js'

/**
 * Creates a template at the upstream, with its own components, those of another template, or those of the library, and
 * records it. Throws missing_field, invalid_field (the first fault), invalid_provider, template_not_found (of the
 * template that is copied), already_taken, invalid_media, template_rejected, upstream_credentials,
 * upstream_unavailable, too_many_requests, outcome_unknown.
 */
export async function createTemplate(ctx: Context, tenant: Tenant, given: NewTemplate): Promise<Template> {
  // What is to be copied is known only if the organization sends through the upstream.
  if (given.copy_of) requireUpstream(tenant)
  refuseFaults(await findFaults(ctx, tenant, given))
  const account = openAccount(ctx, tenant)
  const draft = await toDraft(ctx, tenant, given)
  const { name, language } = draft
  const known = await findExact(ctx, tenant, draft)
  if (known !== null && known.status !== 'DELETED') throw alreadyTaken(known)
  const isOfLibrary = isFromLibrary(given)
  const components = isOfLibrary ? [] : await withHandles(ctx, tenant, account, draft.components)
  const fields = isOfLibrary ? libraryFields(given, draft) : ownFields({ ...draft, components })
  const leftMs = startCountdown(BUDGET_MS)
  const created = await ctx.upstream.createTemplate(account, fields, leftMs())
  if (created.outcome !== 'created') return failWith(ctx, tenant, created, `create the template "${name}"`)
  const { upstreamId, status, category } = created
  const assumed: Template = {
    ...{ name, language, components, upstream_id: upstreamId },
    parameter_format: draft.parameter_format,
    status: status ?? 'PENDING',
    category: category ?? draft.category,
  }
  return recordWritten(ctx, tenant, { account, upstreamId, assumed }, leftMs())
}

/**
 * What the upstream would not take of a template, as far as it is known beforehand. Throws missing_field,
 * template_not_found.
 */
export async function findFaults(
  ctx: Pick<Context, 'database'>,
  tenant: Tenant,
  given: NewTemplate,
): Promise<TemplateFault[]> {
  const draft = await toDraft(ctx, tenant, given)
  if (!isFromLibrary(given)) return checkTemplate(draft)
  return [...checkKey(draft), ...checkTemplate(draft).filter(({ field }) => field === 'category')]
}

/** The template of an earlier attempt that did not see its answer; null if it was not created. */
export async function findCreated(ctx: Context, tenant: Tenant, given: NewTemplate): Promise<Template | null> {
  const draft = await toDraft(ctx, tenant, given)
  const find = async () => {
    const known = await findExact(ctx, tenant, draft)
    // It may be the one of the same name that was deleted before the attempt.
    return known?.status === 'DELETED' ? null : known
  }
  const known = await find()
  if (known) return known
  await ctx.refreshTemplates(tenant.id, () => syncTemplates(ctx, tenant))
  return find()
}

function alreadyTaken({ name, language, status }: Template): Problem {
  const cure = EDITABLE.includes(status)
    ? 'edit it with PATCH /templates, or choose another name or language'
    : status === 'PENDING_DELETION'
      ? 'its deletion is under way, and WhatsApp does not take the name for 30 days: choose another name'
      : 'choose another name or language'
  return new Problem(
    'already_taken',
    `There is a template "${name}" in ${language} already, which is ${status}: ${cure}`,
  )
}

/** Throws the first fault. */
export function refuseFaults([first]: readonly TemplateFault[]): void {
  if (first) throw new Problem('invalid_field', first.sentence)
}

function isFromLibrary({ library_template_name: name }: NewTemplate): boolean {
  return name !== undefined && name !== null
}

/** What is given overrides what is copied. */
async function toDraft(ctx: Pick<Context, 'database'>, tenant: Tenant, given: NewTemplate): Promise<TemplateDraft> {
  const { language } = given
  const original = given.copy_of ? await findOriginal(ctx, tenant, given.copy_of) : null
  const components = given.components ?? (original && partsOf(original)) ?? (isFromLibrary(given) ? [] : null)
  const draft: Omit<GivenDraft, 'name' | 'category' | 'components'> = {
    language,
    parameter_format: given.parameter_format ?? (given.components ? null : original?.parameter_format),
    message_send_ttl_seconds: given.message_send_ttl_seconds,
  }
  const name = given.name ?? original?.name
  const category = given.category ?? original?.category
  if (name === undefined) throw missing('name')
  if (category === undefined) throw missing('category')
  if (components === null) throw missing('components (or copy_of, or library_template_name)')
  return readDraft({ ...draft, name, category, components })
}

function partsOf({ category, components }: Template): readonly JsonObject[] {
  return category === 'AUTHENTICATION' ? restoreAuthentication(components) : components
}

async function findOriginal(
  ctx: Pick<Context, 'database'>,
  tenant: Tenant,
  key: { name: string; language: string },
): Promise<Template> {
  const original = await findExact(ctx, tenant, key)
  if (original) return original
  throw new Problem('template_not_found', `copy_of: there is no template "${key.name}" in ${key.language} to be copied`)
}

function missing(field: string): Problem {
  return new Problem('missing_field', `${field} is required`)
}

/** The body of a creation with components of its own. */
function ownFields(draft: TemplateDraft): JsonObject {
  const { name, language, category, parameter_format, message_send_ttl_seconds: seconds } = draft
  return {
    ...{ name, language, category, parameter_format },
    components: draft.components.map(toWire),
    ...(seconds !== null && { message_send_ttl_seconds: seconds }),
  }
}

/** The upstream documents this one type in lower case. */
export function toWire(component: JsonObject): JsonObject {
  return component.type === 'CALL_PERMISSION_REQUEST' ? { ...component, type: 'call_permission_request' } : component
}

function libraryFields(given: NewTemplate, { name, language, category }: TemplateDraft): JsonObject {
  const { library_template_name, library_template_button_inputs, library_template_body_inputs } = given
  return {
    ...{ name, language, category, library_template_name },
    ...(library_template_button_inputs && { library_template_button_inputs }),
    ...(library_template_body_inputs && { library_template_body_inputs }),
  }
}
