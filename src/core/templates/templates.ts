import type { Context } from '../../context.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { StoredTemplate, Template } from '../../model/templates/template.js'
import { findTemplates, listTemplates as listRows, listSendableNames } from '../../storage/templates/templates.js'
import { requireUpstream } from '../organizations/business-number.js'
import { syncTemplates } from './sync.js'

/** Every known template of an organization, by name and language. */
export function listTemplates(ctx: Pick<Context, 'database'>, organizationId: string): Promise<StoredTemplate[]> {
  return listRows(ctx.database, organizationId)
}

/**
 * The approved template of a name: in `language` if given, else in the organization's language, else the first by
 * language. If there is none, the templates are fetched from the upstream, at most once a minute. Throws
 * invalid_provider, template_not_found (which lists existing templates), and the errors of syncTemplates if no
 * templates are known.
 */
export async function chooseTemplate(
  ctx: Context,
  tenant: Tenant,
  name: string,
  language: string | undefined,
): Promise<StoredTemplate> {
  requireUpstream(tenant)
  const known = await findTemplates(ctx.database, tenant.id, name)
  const chosen = choose(known, language, tenant.language)
  if (chosen) return chosen

  const failure = await refresh(ctx, tenant)
  const fresh = await findTemplates(ctx.database, tenant.id, name)
  const chosenNow = choose(fresh, language, tenant.language)
  if (chosenNow) return chosenNow
  const sendable = await listSendableNames(ctx.database, tenant.id, MAX_SHOWN + 1)
  if (failure && fresh.length === 0 && sendable.length === 0) throw failure
  const reason = explain(name, language, fresh, sendable)
  throw new Problem(
    'template_not_found',
    failure ? `${reason}. The templates could not be fetched from WhatsApp: ${failure.message}` : reason,
  )
}

/**
 * The category of the organization's template of this name and language, in any status. If it is unknown, the templates
 * are fetched first, at most once a minute. Null if it stays unknown.
 */
export async function findTemplateCategory(
  ctx: Context,
  tenant: Tenant,
  name: string,
  language: string,
): Promise<string | null> {
  const find = async () => {
    const known = await findTemplates(ctx.database, tenant.id, name)
    return (
      known.find((template) => normalizeLanguage(template.language) === normalizeLanguage(language))?.category ?? null
    )
  }
  const category = await find()
  if (category !== null || (await refresh(ctx, tenant)) !== null) return category
  return find()
}

const APPROVED = 'APPROVED'
const MAX_SHOWN = 10

/** Candidates are ordered by language. */
function choose<Candidate extends Template>(
  templates: readonly Candidate[],
  language: string | undefined,
  preferred: string,
): Candidate | undefined {
  const approved = templates.filter(({ status }) => status === APPROVED)
  const inLanguage = (wanted: string) =>
    approved.find((template) => normalizeLanguage(template.language) === normalizeLanguage(wanted))
  return language === undefined ? (inLanguage(preferred) ?? approved[0]) : inLanguage(language)
}

/** Converts pt-br to pt_BR. */
function normalizeLanguage(language: string): string {
  return language.toLowerCase().replaceAll('-', '_')
}

/** Resolves to the problem if the templates could not be fetched, else to null. */
async function refresh(ctx: Context, tenant: Tenant): Promise<Problem | null> {
  try {
    await ctx.refreshTemplates(tenant.id, () => syncTemplates(ctx, tenant))
    return null
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** Why there is no approved template of the name. */
function explain(
  name: string,
  language: string | undefined,
  templates: readonly Template[],
  sendable: readonly string[],
): string {
  if (templates.length > 0) {
    const wanted = language === undefined ? '' : ` in ${language}`
    const states = templates.map((template) => `${template.language} is ${template.status}`)
    return `The template "${name}" is not approved${wanted}: ${enumerate(states)}`
  }
  if (sendable.length === 0) return `There is no template "${name}": the organization has no approved template`
  return `There is no template "${name}": approved templates are ${enumerate(sendable)}`
}

function enumerate(things: readonly string[]): string {
  const shown = things.slice(0, MAX_SHOWN).join(', ')
  return things.length > MAX_SHOWN ? `${shown}, …` : shown
}
