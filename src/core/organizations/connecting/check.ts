import type { Context, CredentialsContext } from '../../../context.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { isAboutNumber } from '../../../model/messages/upstream-codes.js'
import { type StepFinding, stateOf } from '../../../model/organizations/connection-steps.js'
import {
  type NumberFacts,
  presentNumberState,
  type ShownNumberState,
} from '../../../model/organizations/number-state.js'
import type { Tenant, UpstreamSettings } from '../../../model/organizations/organization.js'
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
import { organizationNotFound } from '../organizations.js'
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
 * The numbers of an organization as they were found last; with `refresh` they are checked now, and what is found is
 * shown although the upstream did not answer. Empty if none is connected. Throws organization_not_found.
 */
export async function readHealth(ctx: CheckContext, organizationId: string, refresh: boolean): Promise<NumberHealth[]> {
  const tenant = (await findTenant(ctx.database, organizationId)) ?? organizationNotFound(organizationId)
  const { upstream } = tenant
  if (upstream === null) return []
  const checked = refresh ? await readAll(ctx, tenant, upstream) : null
  if (checked && !isUnanswered(checked)) await recordCheck(ctx.database, organizationId, checked)
  const [stored, lastSendAt] = await Promise.all([
    findNumberState(ctx.database, organizationId),
    findLastSendOf(ctx.database, organizationId, null),
  ])
  const unchecked = { facts: {}, steps: [], state: null, token_expires_at: null, checked_at: null, unanswered: 0 }
  const state = stored ?? { phone_number_id: upstream.phone_number_id, ...unchecked, last_callback_at: null }
  const seen = checked ? { steps: checked.steps, state: checked.state } : {}
  return [{ ...presentNumberState({ ...state, ...seen }), last_send_at: lastSendAt?.toISOString() ?? null }]
}

/** A number that is not ok, with what was found. */
export interface NumberTrouble extends Pick<ShownNumberState, 'phone_number_id' | 'display_phone_number' | 'steps'> {
  state: 'warning' | 'failed'
}

/** What the last check of the organization's number found that is not ok; null if all is well, or nothing is known. */
export async function readTrouble(
  { database }: Pick<Context, 'database'>,
  { id, provider }: Pick<Tenant, 'id' | 'provider'>,
): Promise<NumberTrouble | null> {
  const found = provider === 'upstream' ? await findNumberState(database, id) : null
  if (found?.state !== 'warning' && found?.state !== 'failed') return null
  const { phone_number_id, display_phone_number, steps } = presentNumberState(found)
  const problems = steps.filter(({ state }) => state !== 'ok')
  return { phone_number_id, display_phone_number, state: found.state, steps: problems }
}

/**
 * Checks an organization's number, as a job, and records what was found, if the upstream answered, or has not for a
 * while. A number at the simulator is registered there first.
 */
export async function checkNumberAsJob(ctx: CheckContext, organizationId: string): Promise<void> {
  const tenant = await findTenant(ctx.database, organizationId)
  if (!tenant?.upstream || tenant.provider !== 'upstream') return
  await linkWithSimulator(ctx, ctx.database, [organizationId])
  const checked = await readAll(ctx, tenant, tenant.upstream)
  const { phone_number_id: phoneNumberId } = tenant.upstream
  if (isUnanswered(checked)) {
    const times = await countUnansweredCheck(ctx.database, tenant.id, phoneNumberId)
    if (times < MAX_UNANSWERED) return
  }
  await recordCheck(ctx.database, tenant.id, checked)
}

/**
 * Has the organization's number checked soon if the error of a message says that the number, its account or its token
 * is at fault: the page and the event then tell at once what the next hourly check would.
 */
export async function checkAfterFailure(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  code: number | string,
): Promise<void> {
  if (!isAboutNumber(code)) return
  await enqueueDueNumberCheck(database, organizationId, new Date(clock().getTime() - BETWEEN_CHECKS_MS))
}

/** Enqueues a check for every organization with a number at the upstream. */
export function scheduleNumberChecks({ database }: Pick<Context, 'database'>): Promise<void> {
  return enqueueNumberChecks(database)
}

function isUnanswered({ steps }: CheckedNumber): boolean {
  return steps.some(({ reason }) => reason.endsWith('_unavailable'))
}

/** Reads and judges everything about a number; changes nothing. */
async function readAll(ctx: CheckContext, { id }: Tenant, upstream: UpstreamSettings): Promise<CheckedNumber> {
  const left = startCountdown(BUDGET_MS)
  const asking = { upstream: ctx.upstream, callMs: () => Math.min(ctx.upstreamTimeoutMs, left()) }
  const number = openBusinessNumber(ctx, id, upstream)
  const { appSecret } = number
  const now = ctx.clock()
  const ofToken = await readToken(asking, number, now)
  const { last_callback_at: lastCallbackAt } = await findLastCallbacks(ctx.database, id, number.phoneNumberId)
  const received = await judgeCallbacks(ctx, id, lastCallbackAt)
  const { app } = ofToken
  const rest =
    app === null
      ? { steps: [], facts: {} }
      : await readNumber(ctx, asking, {
          ...number,
          ...{ appId: app.id, businessAccountId: upstream.business_account_id, lastCallbackAt },
        })
  const ofSecret = app === null ? [] : [await checkSecret(asking, number, app)]
  const steps = [ofToken.finding, ...ofSecret, ...rest.steps, ...received].map((step) =>
    withoutSecrets(step, [number.accessToken, appSecret]),
  )
  return { phone_number_id: number.phoneNumberId, steps, facts: rest.facts, ...judge(steps, ofToken, now) }
}

/** Whether a message was sent more than an hour ago, in a day, and no callback has come since. */
async function judgeCallbacks(
  { database, clock }: CheckContext,
  organizationId: string,
  lastCallbackAt: Date | null,
): Promise<StepFinding[]> {
  const now = clock().getTime()
  const sentAt = await findLastSendOf(database, organizationId, new Date(now - HOUR_MS))
  const reportedUntil = Math.max(now - DAY_MS, (lastCallbackAt?.getTime() ?? 0) + NOTED_MS)
  const isReported = sentAt === null || sentAt.getTime() <= reportedUntil
  return isReported ? [] : [found('received_not', { at: sentAt.toISOString() })]
}

async function readNumber(
  ctx: CheckContext,
  asking: Asking,
  { lastCallbackAt, ...credentials }: NumberCredentials & { lastCallbackAt: Date | null },
): Promise<{ steps: StepFinding[]; facts: NumberFacts }> {
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
  return { steps, facts: number ? toFacts(number, reading, credentials.appId) : {} }
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
