import type { Context, CredentialsContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { newId } from '../../lib/bytes/id.js'
import { type Again, SLICE_MS } from '../../model/jobs.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { inferParameterFormat } from '../../model/templates/template.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import {
  countTemplates,
  enqueueTemplateSync,
  enqueueTemplateSyncs,
  findTemplateSync,
  listTemplateKeys,
  lockTemplates,
  putTemplates,
  recordTemplateSync,
  removeTemplates,
  type TemplateKey,
  type TemplateWrite,
} from '../../storage/templates/templates.js'
import type { ListedTemplate, ListTemplatesOutcome, TemplateCursor } from '../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from '../organizations/business-number.js'
import { linkWithSimulator } from '../organizations/connections.js'
import { organizationNotFound } from '../organizations/organizations.js'

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

/** Where the list of an organization's templates continues, as the state of a job. */
export interface TemplateList {
  /** The business account that is listed. */
  businessAccountId: string
  /** In ISO 8601, by the database's clock. */
  startedAt: string
  /** Null: at its first page. */
  cursor: TemplateCursor | null
  pages: number
  /** The templates that were known when the list began and that it has not shown. */
  unlisted: readonly TemplateKey[]
  added: number
  changed: number
}

const FINAL_PROBLEMS = new Set(['organization_not_found', 'invalid_provider', 'upstream_credentials'])
/** Maximum duration of a request. */
const BUDGET_MS = 25_000
/** An account may have 6,000 templates. */
const MAX_PAGES = 400

/**
 * Fetches the organization's templates from the upstream and removes those that it does not list any more. Changed
 * statuses, new templates and removed ones (as DELETED) raise template.status_changed, changed content template.updated,
 * and changed qualities template.quality_changed, except in the first list of a business account. Throws
 * invalid_provider, upstream_credentials, upstream_unavailable, too_many_requests; then the pages that were read are
 * recorded.
 */
export async function syncTemplates(
  ctx: SyncContext,
  tenant: Tenant,
  totalTimeoutMs = BUDGET_MS,
): Promise<SyncedTemplates> {
  const leftMs = startCountdown(totalTimeoutMs)
  let list = await beginList(ctx, tenant)
  for (;;) {
    const timeoutMs = Math.min(ctx.upstreamTimeoutMs, leftMs())
    if (timeoutMs === 0) throw notListed(`the list did not end within ${totalTimeoutMs} ms`)
    const read = await syncPage(ctx, tenant, list, timeoutMs)
    if ('synced' in read) return read.synced
    list = read.list
  }
}

/**
 * Like syncTemplates, for an organization by its id and without the time limit of a request. Throws
 * organization_not_found too.
 */
export async function syncTemplatesOf(ctx: SyncContext, organizationId: string): Promise<SyncedTemplates> {
  const tenant = (await findTenant(ctx.database, organizationId)) ?? organizationNotFound(organizationId)
  return syncTemplates(ctx, tenant, Number.POSITIVE_INFINITY)
}

/**
 * Like syncTemplates, as a job requested at `requestedAt` that continues `list` (null: begins) and gives its place back
 * after a while. A list fetched later is enough. Refusals are logged, since only the operator can fix them; other
 * failures are retried. The job registers the number with the simulator first, because the command line, which enqueues
 * it, does not know the simulator's address.
 */
export async function syncTemplatesAsJob(
  ctx: SyncContext & CredentialsContext & Pick<Context, 'log'>,
  organizationId: string,
  requestedAt: Date,
  list: TemplateList | null,
): Promise<Again | null> {
  const last = await findTemplateSync(ctx.database, organizationId)
  if (last === null || (last.syncedAt !== null && last.syncedAt > requestedAt)) return null
  await linkWithSimulator(ctx, ctx.database, [organizationId])
  const isComplete = list !== null && last.syncedAt !== null && last.syncedAt >= new Date(list.startedAt)
  try {
    const tenant = (await findTenant(ctx.database, organizationId)) ?? organizationNotFound(organizationId)
    return await syncSlice(ctx, tenant, requestedAt, isComplete ? null : list)
  } catch (error) {
    if (!(error instanceof Problem) || !FINAL_PROBLEMS.has(error.code)) throw error
    ctx.log.warn({ organizationId, reason: error.message, ...error.extras }, 'templates could not be fetched')
    return null
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

/** Reads pages for a while. */
async function syncSlice(
  ctx: SyncContext & Pick<Context, 'clock'>,
  tenant: Tenant,
  requestedAt: Date,
  given: TemplateList | null,
): Promise<Again | null> {
  const end = ctx.clock().getTime() + SLICE_MS
  const isContinued = given?.businessAccountId === requireUpstream(tenant).business_account_id
  let list = isContinued ? given : await beginList(ctx, tenant)
  do {
    const read = await syncPage(ctx, tenant, list, ctx.upstreamTimeoutMs)
    if ('synced' in read) {
      // A request between two slices asks for a list that starts after it.
      const isOutdated = isContinued && read.synced.syncedAt <= requestedAt
      return isOutdated ? { againInMs: 0, payload: {} } : null
    }
    list = read.list
  } while (ctx.clock().getTime() < end)
  return { againInMs: 0, payload: { list } }
}

async function beginList({ database }: SyncContext, tenant: Tenant): Promise<TemplateList> {
  const { business_account_id: businessAccountId } = requireUpstream(tenant)
  const last = await findTemplateSync(database, tenant.id)
  if (last === null) throw accountChanged()
  const unlisted = await listTemplateKeys(database, tenant.id)
  const startedAt = last.now.toISOString()
  return { businessAccountId, startedAt, cursor: null, pages: 0, unlisted, added: 0, changed: 0 }
}

type Page = Extract<ListTemplatesOutcome, { outcome: 'listed' }>
/** The list that continues, or the result at its end. */
type PageResult = { list: TemplateList } | { synced: SyncedTemplates }

/** Reads the next page and records it. */
async function syncPage(ctx: SyncContext, tenant: Tenant, list: TemplateList, timeoutMs: number): Promise<PageResult> {
  const { businessAccountId, cursor, pages } = list
  if (pages >= MAX_PAGES) throw notListed(`the list has more than ${MAX_PAGES} pages`)
  const access = openBusinessNumber(ctx, tenant.id, requireUpstream(tenant))
  const last = await findTemplateSync(ctx.database, tenant.id)
  if (last === null) throw accountChanged()
  const page = await ctx.upstream.listTemplates({ ...access, businessAccountId }, cursor, timeoutMs)
  if (page.outcome !== 'listed') throw toProblem(page, businessAccountId)
  return ctx.database.transaction((transaction) =>
    recordPage(transaction, tenant.id, list, { ...page, requestedAt: last.now }),
  )
}

/** Rows written after the page was requested, by a callback or another list, are newer than the page. */
async function recordPage(
  transaction: Queryable,
  organizationId: string,
  list: TemplateList,
  { templates, next, requestedAt }: Page & { requestedAt: Date },
): Promise<PageResult> {
  const startedAt = new Date(list.startedAt)
  const last = await lockTemplates(transaction, organizationId, list.businessAccountId)
  if (last === null) throw accountChanged()
  const { syncedAt } = last
  if (syncedAt !== null && syncedAt > startedAt) {
    const { added, changed } = list
    return {
      synced: { total: await countTemplates(transaction, organizationId), added, changed, removed: 0, syncedAt },
    }
  }

  const eventId = () => (syncedAt === null ? null : newId())
  const withEvent = <Row extends object>(row: Row) => ({ ...row, event_id: eventId() })
  const rows = templates.map((template) => ({
    ...withEvent(toRow(template)),
    update_event_id: eventId(),
    quality_event_id: eventId(),
  }))
  const written = await putTemplates(transaction, organizationId, rows, requestedAt)
  const added = list.added + written.added
  const changed = list.changed + written.changed
  const listed = new Set(templates.map(keyOf))
  const unlisted = list.unlisted.filter((template) => !listed.has(keyOf(template)))
  if (next !== null) return { list: { ...list, cursor: next, pages: list.pages + 1, unlisted, added, changed } }

  const removed = await removeTemplates(transaction, organizationId, unlisted.map(withEvent), startedAt)
  await recordTemplateSync(transaction, organizationId, startedAt)
  const total = await countTemplates(transaction, organizationId)
  return { synced: { total, added, changed, removed, syncedAt: startedAt } }
}

/** A template of the upstream as its row, without its events. */
export function toRow({
  upstreamId,
  parameterFormat,
  components,
  rejectedReason,
  ...rest
}: ListedTemplate): Omit<TemplateWrite, 'event_id' | 'update_event_id' | 'quality_event_id'> {
  const parameter_format = parameterFormat ?? inferParameterFormat(components)
  return { ...rest, upstream_id: upstreamId, parameter_format, components, status_reason: rejectedReason }
}

function keyOf({ name, language }: TemplateKey): string {
  return `${name} ${language}`
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
      return notListed(details)
  }
}

function notListed(details: string): Problem {
  return new Problem('upstream_unavailable', 'WhatsApp did not return the list of templates: try again later', {
    details,
    retryable: true,
  })
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
