import type { Context, CredentialsContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { canonicalJson } from '../../lib/text/json.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { inferParameterFormat, type StoredTemplate } from '../../model/templates/template.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import {
  enqueueTemplateSync,
  enqueueTemplateSyncs,
  findTemplateSync,
  listTemplates,
  lockTemplates,
  putTemplates,
  recordTemplateSync,
  removeTemplates,
  type TemplateWrite,
} from '../../storage/templates/templates.js'
import type { ListedTemplate, ListTemplatesOutcome } from '../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from '../organizations/business-number.js'
import { linkWithSimulator } from '../organizations/connections.js'

/** The command line uses it too. */
export type SyncContext = Pick<Context, 'database' | 'secrets' | 'upstream' | 'upstreamTimeoutMs'>

/** The result of a sync. */
export interface SyncedTemplates {
  /** The number of templates. */
  total: number
  added: number
  changed: number
  removed: number
  /** When the fetch of the list started. */
  syncedAt: Date
}

const FINAL_PROBLEMS = new Set(['organization_not_found', 'invalid_provider', 'upstream_credentials'])
/** Maximum duration of a request. */
const BUDGET_MS = 25_000
/** No request waits for the job, and an account may have thousands of templates. */
const JOB_BUDGET_MS = 5 * 60_000

/**
 * Fetches the organization's templates from the upstream and removes those that it does not list any more. Changed
 * statuses, new templates and removed ones (as DELETED) raise template.status_changed, except in the first list of a
 * business account. Throws invalid_provider, upstream_credentials, upstream_unavailable, too_many_requests.
 */
export async function syncTemplates(
  ctx: SyncContext,
  tenant: Tenant,
  totalTimeoutMs = BUDGET_MS,
): Promise<SyncedTemplates> {
  const settings = requireUpstream(tenant)
  const businessAccountId = settings.business_account_id
  const lastSync = await findTemplateSync(ctx.database, tenant.id)
  if (lastSync === null) throw accountChanged()
  const { accessToken } = openBusinessNumber(ctx, tenant.id, settings)
  const timeouts = { callTimeoutMs: ctx.upstreamTimeoutMs, totalTimeoutMs }
  const listing = await ctx.upstream.listTemplates({ businessAccountId, accessToken }, timeouts)
  if (listing.outcome !== 'listed') throw toProblem(listing, businessAccountId)
  return recordList(ctx, tenant, { businessAccountId, startedAt: lastSync.now, listed: listing.templates })
}

/**
 * Like syncTemplates, for an organization by its id and without the time limit of a request. Throws
 * organization_not_found too.
 */
export async function syncTemplatesOf(ctx: SyncContext, organizationId: string): Promise<SyncedTemplates> {
  const tenant = await findTenant(ctx.database, organizationId)
  if (tenant) return syncTemplates(ctx, tenant, JOB_BUDGET_MS)
  throw new Problem('organization_not_found', `There is no organization with the id ${organizationId}`)
}

/**
 * Like syncTemplates, as a job requested at `askedAt`: a list fetched later is enough. Refusals are logged, since only
 * the operator can fix them; other failures are retried. The job registers the number with the simulator first, because
 * the command line, which enqueues it, does not know the simulator's address.
 */
export async function syncTemplatesAsJob(
  ctx: SyncContext & CredentialsContext & Pick<Context, 'log'>,
  organizationId: string,
  requestedAt: Date,
): Promise<void> {
  const last = await findTemplateSync(ctx.database, organizationId)
  if (last === null || (last.syncedAt !== null && last.syncedAt > requestedAt)) return
  await linkWithSimulator(ctx, ctx.database, [organizationId])
  try {
    await syncTemplatesOf(ctx, organizationId)
  } catch (error) {
    if (!(error instanceof Problem) || !FINAL_PROBLEMS.has(error.code)) throw error
    ctx.log.warn({ organizationId, reason: error.message, ...error.extras }, 'templates could not be fetched')
  }
}

/** Enqueues a sync of an organization's templates. */
export function requestTemplateSync({ database }: Pick<Context, 'database'>, organizationId: string): Promise<void> {
  return enqueueTemplateSync(database, organizationId)
}

/** Enqueues a sync for every organization with a number at the upstream. */
export function scheduleTemplateSyncs({ database }: Pick<Context, 'database'>): Promise<void> {
  return enqueueTemplateSyncs(database)
}

interface List {
  businessAccountId: string
  startedAt: Date
  listed: readonly ListedTemplate[]
}

/** Rows written after the fetch started, by a callback or a later list, are newer than this list. */
function recordList(ctx: SyncContext, tenant: Tenant, list: List): Promise<SyncedTemplates> {
  const { businessAccountId, startedAt, listed } = list
  return ctx.database.transaction(async (transaction) => {
    const last = await lockTemplates(transaction, tenant.id, businessAccountId)
    if (last === null) throw accountChanged()
    const known = await listTemplates(transaction, tenant.id)
    const unchanged = { total: known.length, added: 0, changed: 0, removed: 0 }
    if (last.syncedAt !== null && last.syncedAt > startedAt) return { ...unchanged, syncedAt: last.syncedAt }

    const older = known.filter(({ synced_at }) => new Date(synced_at) <= startedAt)
    const isFirst = last.syncedAt === null
    const { added, changed, removed } = compare(known, older, listed.map(toRow))
    const writes = [
      ...added.map((row) => ({ ...row, event_id: isFirst ? null : newId() })),
      ...changed.map(({ row, before }) => ({
        ...row,
        event_id: isFirst || row.status === before.status ? null : newId(),
      })),
    ]
    const gone = removed.map(({ name, language }) => ({ name, language, event_id: isFirst ? null : newId() }))
    await putTemplates(transaction, tenant.id, writes)
    await removeTemplates(transaction, tenant.id, gone)
    await recordTemplateSync(transaction, tenant.id, startedAt)
    const total = known.length + added.length - removed.length
    return { total, added: added.length, changed: changed.length, removed: removed.length, syncedAt: startedAt }
  })
}

type Row = Omit<TemplateWrite, 'event_id'>

function toRow({ upstreamId, parameterFormat, components, ...rest }: ListedTemplate): Row {
  const parameter_format = parameterFormat ?? inferParameterFormat(components)
  return { ...rest, upstream_id: upstreamId, parameter_format, components }
}

/**
 * The differences between the list and the known templates. Only templates older than the list are changed or removed.
 */
function compare(known: readonly StoredTemplate[], older: readonly StoredTemplate[], listed: readonly Row[]) {
  const keyOf = ({ name, language }: Pick<Row, 'name' | 'language'>) => `${name} ${language}`
  const knownKeys = new Set(known.map(keyOf))
  const olderByKey = new Map(older.map((template) => [keyOf(template), template]))
  const listedKeys = new Set(listed.map(keyOf))
  return {
    added: listed.filter((row) => !knownKeys.has(keyOf(row))),
    changed: listed.flatMap((row) => {
      const before = olderByKey.get(keyOf(row))
      return before && contentOf(before) !== contentOf(row) ? [{ row, before }] : []
    }),
    removed: older.filter((template) => !listedKeys.has(keyOf(template))),
  }
}

function contentOf({ upstream_id, status, category, parameter_format, components }: Row): string {
  return canonicalJson([upstream_id, status, category, parameter_format, components])
}

function toProblem(failure: Exclude<ListTemplatesOutcome, { outcome: 'listed' }>, businessAccountId: string): Problem {
  const { text: details } = failure
  switch (failure.outcome) {
    case 'refused': {
      const message =
        failure.because === 'credentials'
          ? "WhatsApp refused the organization's access token: set a valid token that may read templates"
          : `WhatsApp does not list the templates of the business account ${businessAccountId}: check that it belongs to the organization`
      return new Problem('upstream_credentials', message, { details, upstream_code: failure.code })
    }
    case 'limited': {
      const seconds = Math.max(1, Math.ceil((failure.retryAfterMs ?? DEFAULT_WAIT_MS) / 1_000))
      return new Problem('too_many_requests', `WhatsApp's rate limit is reached: try again in ${seconds} s`, {
        details,
        retry_after: seconds,
      })
    }
    case 'failed':
      return new Problem('upstream_unavailable', 'WhatsApp did not return the list of templates: try again later', {
        details,
        retryable: true,
      })
  }
}

/** The upstream's limit for these calls is per hour. */
const DEFAULT_WAIT_MS = 60_000

function accountChanged(): Problem {
  return new Problem(
    'upstream_unavailable',
    "The organization's number was connected again in the meantime: try again",
    {
      retryable: true,
    },
  )
}
