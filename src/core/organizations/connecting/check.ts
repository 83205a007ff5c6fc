import type { Context, CredentialsContext } from '../../../context.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { type Instance, ownNumberOf } from '../../../model/instances/instance.js'
import { isAboutNumber } from '../../../model/messages/upstream-codes.js'
import { type StepFinding, stateOf } from '../../../model/organizations/connection-steps.js'
import {
  type NumberFacts,
  presentNumberState,
  type ShownNumberState,
} from '../../../model/organizations/number-state.js'
import type { Tenant, UpstreamSettings } from '../../../model/organizations/organization.js'
import { allowedRate } from '../../../model/organizations/rate.js'
import { type Restriction, restrictionsAt } from '../../../model/organizations/restriction.js'
import { listInstances } from '../../../storage/instances/instances.js'
import {
  type CheckedNumber,
  countUnansweredCheck,
  enqueueDueNumberCheck,
  enqueueNumberChecks,
  findLastCallbacks,
  findLastSendOf,
  findNumberState,
  recordCheck,
} from '../../../storage/numbers/number-states.js'
import { findTenant } from '../../../storage/organizations/organizations.js'
import type { NumberReading } from '../../../upstream/connecting/number-state.js'
import { openBusinessNumber } from '../business-number.js'
import { linkWithSimulator } from '../connections.js'
import { openInstanceNumber, registerOwnNumber } from '../instance-number.js'
import { listNumbers } from '../numbers.js'
import { requireTenant } from '../suspension.js'
import { type AddressReading, findOurAddress, judgeAddresses, overridesOf, readAddresses } from './addresses.js'
import { type Asking, found, type NumberCredentials, withoutSecrets } from './findings.js'
import { judgeFound, judgeNumber, judgeRegistered } from './judge-number.js'
import { checkSecret, readToken, type TokenReading } from './judge-token.js'

type CheckContext = CredentialsContext & Pick<Context, 'upstream' | 'upstreamTimeoutMs' | 'publicUrl' | 'isSimulated'>

/** A number with when it last sent. */
export interface NumberHealth extends ShownNumberState {
  /** Among its newest 1,000 messages. */
  last_send_at: string | null
}

const BUDGET_MS = 25_000
/** So many checks in a row without an answer count as a finding: shorter failures pass by themselves. */
const MAX_UNANSWERED = 3
/** Failed messages cause a check no sooner after another one. */
const BETWEEN_CHECKS_MS = 5 * 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The time of the last callback is noted once a minute. */
const NOTED_MS = 2 * 60_000
/** The end of a token is told so many days before. */
const TOLD_DAYS = [1, 7, 30]

/**
 * The numbers of an organization as they were found last, the first one first; with `refresh` they are checked now, and
 * what is found is shown although the upstream did not answer. Empty if none is connected. Throws
 * organization_not_found, organization_suspended.
 */
export async function readHealth(ctx: CheckContext, organizationId: string, refresh: boolean): Promise<NumberHealth[]> {
  const tenant = await requireTenant(ctx, organizationId)
  return Promise.all((await findTargets(ctx, tenant)).map((target) => readOne(ctx, tenant, target, refresh)))
}

/** A number of an organization with what its check needs. */
interface Target {
  /** Null: the organization's own number. */
  instance: Instance | null
  phoneNumberId: string
  /** Null: it was connected without an app secret or account, and is not checked. */
  credentials: Omit<NumberCredentials, 'appId'> | null
}

async function findTargets({ database, secrets }: CheckContext, tenant: Tenant): Promise<Target[]> {
  const { id, upstream } = tenant
  if (upstream === null) return []
  const instances = tenant.has_further_numbers ? await listInstances(database, id) : []
  const further = instances.filter((instance) => ownNumberOf(instance, tenant) !== null)
  return [ofFirst({ secrets }, id, upstream), ...further.map((instance) => ofInstance({ secrets }, tenant, instance))]
}

function ofFirst({ secrets }: Pick<Context, 'secrets'>, organizationId: string, upstream: UpstreamSettings): Target {
  const number = openBusinessNumber({ secrets }, organizationId, upstream)
  const credentials = { ...number, businessAccountId: upstream.business_account_id }
  return { instance: null, phoneNumberId: number.phoneNumberId, credentials }
}

function ofInstance({ secrets }: Pick<Context, 'secrets'>, tenant: Tenant, instance: Instance): Target {
  const { business_account_id: businessAccountId } = instance
  const number = openInstanceNumber({ secrets }, tenant, instance)
  const { appSecret } = number
  const credentials = appSecret && businessAccountId !== null ? { ...number, appSecret, businessAccountId } : null
  return { instance, phoneNumberId: number.phoneNumberId, credentials }
}

async function readOne(ctx: CheckContext, { id }: Tenant, target: Target, refresh: boolean): Promise<NumberHealth> {
  const { instance, phoneNumberId } = target
  const checked = refresh ? await readAll(ctx, id, target) : null
  if (checked && !isUnanswered(checked)) await recordCheck(ctx.database, id, checked)
  const [stored, lastSendAt] = await Promise.all([
    findNumberState(ctx.database, id, phoneNumberId),
    findLastSendOf(ctx.database, id, instance?.id ?? null, null),
  ])
  const unchecked = { facts: {}, steps: [], state: null, token_expires_at: null, checked_at: null, unanswered: 0 }
  const state = stored ?? { phone_number_id: phoneNumberId, ...unchecked, last_callback_at: null }
  const seen = checked ? { steps: checked.steps, state: checked.state } : {}
  return { ...presentNumberState({ ...state, ...seen }), last_send_at: lastSendAt?.toISOString() ?? null }
}

/** A number that is not ok, with what was found. */
export interface NumberTrouble extends Pick<ShownNumberState, 'phone_number_id' | 'display_phone_number' | 'steps'> {
  state: 'warning' | 'failed'
}

/**
 * What the last checks of the organization's numbers found that is not ok, of the first number that fails, else of the
 * first with a warning; null if all is well, or nothing is known.
 */
export async function readTrouble(
  { database }: Pick<Context, 'database'>,
  { id, provider }: Pick<Tenant, 'id' | 'provider'>,
): Promise<NumberTrouble | null> {
  const numbers = provider === 'upstream' ? await listNumbers({ database }, { id }) : []
  const worst = numbers.find(({ state }) => state === 'failed') ?? numbers.find(({ state }) => state === 'warning')
  const found = worst ? await findNumberState(database, id, worst.phone_number_id) : null
  if (found?.state !== 'warning' && found?.state !== 'failed') return null
  const { phone_number_id, display_phone_number, steps } = presentNumberState(found)
  const problems = steps.filter(({ state }) => state !== 'ok')
  return { phone_number_id, display_phone_number, state: found.state, steps: problems }
}

/** What the upstream refuses to send for the organization's own number now. */
export function readRestrictions(
  { clock }: Pick<Context, 'clock'>,
  { upstream, provider }: Pick<Tenant, 'upstream' | 'provider'>,
): Restriction[] {
  return provider === 'upstream' && upstream !== null ? restrictionsAt(upstream.restrictions, clock()) : []
}

/**
 * Checks an organization's numbers, as a job, and records what was found, if the upstream answered, or has not for a
 * while. Numbers at the simulator are registered there first.
 */
export async function checkNumberAsJob(ctx: CheckContext, organizationId: string): Promise<void> {
  const tenant = await findTenant(ctx.database, organizationId)
  if (!tenant?.upstream || tenant.provider !== 'upstream') return
  await linkWithSimulator(ctx, ctx.database, [organizationId])
  for (const target of await findTargets(ctx, tenant)) {
    if (target.instance) await registerOwnNumber(ctx, target.instance)
    await checkOne(ctx, organizationId, target)
  }
}

async function checkOne(ctx: CheckContext, organizationId: string, target: Target): Promise<void> {
  const checked = await readAll(ctx, organizationId, target)
  if (checked === null) return
  if (isUnanswered(checked)) {
    const times = await countUnansweredCheck(ctx.database, organizationId, target.phoneNumberId)
    if (times < MAX_UNANSWERED) return
  }
  await recordCheck(ctx.database, organizationId, checked)
}

/**
 * Has the organization's numbers checked soon if the error of a message says that the number, its account or its token
 * is at fault.
 */
export async function checkAfterFailure(
  ctx: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  code: number | string,
): Promise<void> {
  if (isAboutNumber(code)) await checkSoon(ctx, organizationId)
}

/**
 * Has the organization's numbers checked soon, unless they were lately: the page, the event and doctor then tell at once
 * what the next hourly check would.
 */
export async function checkSoon(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
): Promise<void> {
  await enqueueDueNumberCheck(database, organizationId, new Date(clock().getTime() - BETWEEN_CHECKS_MS))
}

/** Enqueues a check for every organization with a number at the upstream. */
export function scheduleNumberChecks({ database }: Pick<Context, 'database'>): Promise<void> {
  return enqueueNumberChecks(database)
}

function isUnanswered({ steps }: CheckedNumber): boolean {
  return steps.some(({ reason }) => reason.endsWith('_unavailable'))
}

/** Reads and judges everything about a number; changes nothing. Null if its credentials are incomplete. */
async function readAll(ctx: CheckContext, organizationId: string, target: Target): Promise<CheckedNumber | null> {
  const { instance, phoneNumberId, credentials } = target
  if (credentials === null) return null
  const left = startCountdown(BUDGET_MS)
  const asking = { upstream: ctx.upstream, callMs: () => Math.min(ctx.upstreamTimeoutMs, left()) }
  const { appSecret, accessToken } = credentials
  const now = ctx.clock()
  const ofToken = await readToken(asking, credentials, now)
  const { last_callback_at: lastCallbackAt } = await findLastCallbacks(ctx.database, organizationId, phoneNumberId)
  const received = await judgeCallbacks(ctx, organizationId, instance, lastCallbackAt)
  const { app } = ofToken
  const rest =
    app === null
      ? { steps: [], facts: {}, allowedRate: null }
      : await readNumber(ctx, asking, { ...credentials, appId: app.id, lastCallbackAt })
  const ofSecret = app === null ? [] : [await checkSecret(asking, credentials, app)]
  const steps = [ofToken.finding, ...ofSecret, ...rest.steps, ...received].map((step) =>
    withoutSecrets(step, [accessToken, appSecret]),
  )
  const { facts, allowedRate: allowed_rate } = rest
  return { phone_number_id: phoneNumberId, steps, facts, allowed_rate, ...judge(steps, ofToken, now) }
}

/** Whether a message was sent more than an hour ago, in a day, and no callback has come since. */
async function judgeCallbacks(
  { database, clock }: CheckContext,
  organizationId: string,
  instance: Instance | null,
  lastCallbackAt: Date | null,
): Promise<StepFinding[]> {
  const now = clock().getTime()
  const sentAt = await findLastSendOf(database, organizationId, instance?.id ?? null, new Date(now - HOUR_MS))
  const reportedUntil = Math.max(now - DAY_MS, (lastCallbackAt?.getTime() ?? 0) + NOTED_MS)
  const isReported = sentAt === null || sentAt.getTime() <= reportedUntil
  return isReported ? [] : [found('received_not', { at: sentAt.toISOString() })]
}

async function readNumber(
  ctx: CheckContext,
  asking: Asking,
  { lastCallbackAt, ...credentials }: NumberCredentials & { lastCallbackAt: Date | null },
): Promise<{ steps: StepFinding[]; facts: NumberFacts; allowedRate: number | null }> {
  const read = await asking.upstream.connecting.readNumberState(credentials, asking.callMs())
  const number = read.outcome === 'done' ? read.number : null
  const ours = await findOurAddress(ctx)
  const reading = await readAddresses(asking, credentials, number, ours)
  const isLately = lastCallbackAt !== null && ctx.clock().getTime() - lastCallbackAt.getTime() < DAY_MS
  const steps = [
    judgeFound(read, credentials),
    ...judgeAddresses(reading, credentials, ours, isLately ? lastCallbackAt : null),
    ...(number ? judgeState(number) : []),
  ]
  const facts = number ? toFacts(number, reading, credentials.appId) : {}
  return { steps, facts, allowedRate: number && allowedRate(number) }
}

function judgeState(number: NumberReading): StepFinding[] {
  const unregistered = found('not_registered', { status: number.status ?? '–' })
  return [judgeRegistered(number) ?? unregistered, ...judgeNumber(number)]
}

function toFacts(number: NumberReading, reading: AddressReading, appId: string): NumberFacts {
  const ofApp = reading.address.outcome === 'done' ? reading.address.address.url : null
  return {
    display_phone_number: number.display,
    verified_name: number.name,
    status: number.status,
    name_status: number.nameStatus,
    quality_rating: number.quality,
    throughput: number.throughput,
    messaging_limit: number.messagingLimit,
    can_send: number.canSend,
    callback_url: overridesOf(reading, appId)[0]?.url ?? ofApp,
  }
}

/** The state as a whole; what has to be chosen while connecting is not asked here. */
function judge(steps: readonly StepFinding[], { token, app }: TokenReading, now: Date) {
  const states = steps.map(stateOf)
  const problems = steps.filter((step) => stateOf(step) !== 'ok').map(({ reason }) => reason)
  const state = states.includes('failed') ? 'failed' : states.includes('warning') ? 'warning' : 'ok'
  const expiresAt = token?.expiresAt ?? null
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - now.getTime()
  const expiry_days = TOLD_DAYS.find((days) => left <= days * DAY_MS) ?? null
  const is_token_read = token !== null || app !== null
  return { state, problems, token_expires_at: expiresAt, expiry_days, is_token_read, checked_at: now } as const
}
