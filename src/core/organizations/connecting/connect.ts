import { randomBytes } from 'node:crypto'
import type { Context, CredentialsContext } from '../../../context.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { newId } from '../../../lib/bytes/id.js'
import { sha256 } from '../../../lib/crypto/signature.js'
import {
  type ConnectionStep,
  presentStep,
  type StepFinding,
  stateOf,
} from '../../../model/organizations/connection-steps.js'
import type { ConnectionChoices } from '../../../model/organizations/operator-input.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { presentUpstream, type ShownUpstream } from '../../../model/organizations/settings.js'
import { Problem } from '../../../model/problem.js'
import { enqueueNumberCheck, findLastCallbacks } from '../../../storage/numbers/number-states.js'
import {
  beginConnectionAttempt,
  endConnectionAttempt,
  keepVerifyToken,
} from '../../../storage/organizations/connection-attempts.js'
import { findTenant } from '../../../storage/organizations/organizations.js'
import { openBusinessNumber } from '../business-number.js'
import { connectUpstream } from '../connections.js'
import { putFurtherNumber } from '../further-numbers.js'
import { missingSetting } from '../missing-setting.js'
import { listNumbers } from '../numbers.js'
import { requireTenant } from '../suspension.js'
import { findOurAddress, readAddresses } from './addresses.js'
import { directCallbacks } from './direct-callbacks.js'
import { findNumber, type NumberWish, type ReachedNumber } from './find-number.js'
import { type Asking, found, type NumberCredentials, withoutSecrets } from './findings.js'
import { judgeFound, judgeNumber } from './judge-number.js'
import { checkSecret, readToken } from './judge-token.js'
import { askForPhoneData } from './phone-data.js'
import { judgeReceived } from './received.js'
import { registerIfNeeded } from './register.js'
import { readTestRecipient, sendTestMessage, type TestMessage } from './test-message.js'

/** The command line uses it too. */
export type ConnectContext = CredentialsContext &
  Pick<Context, 'upstream' | 'upstreamTimeoutMs' | 'publicUrl' | 'isSimulated'>

/** What was found and done. */
export interface Connection {
  /** Whether nothing failed and nothing is left to choose. */
  connected: boolean
  /** Null if no number is connected. */
  upstream: ShownUpstream | null
  steps: ConnectionStep[]
}

/** The secrets of a connection, in the clear. */
interface Secrets {
  accessToken: string
  appSecret: string | undefined
}

/** Of a whole connection, which is one request. */
const BUDGET_MS = 25_000
/** Longer than any attempt lasts. */
const ATTEMPT_SECONDS = 60

/**
 * Connects an organization with a number that its access token reaches; with `further`, beside those that it has: finds
 * the number, stores the credentials, has the upstream call this service, registers the number if a PIN is given, and
 * asks for what its phone has. Says of each step what it found, and what the caller has to choose; calling again with
 * the choice goes on, and what is done already stays. What belongs to another program changes only if that was chosen.
 * With `choose`, the number is to be chosen, even if one is connected. With `send_to`, a connected number sends a
 * message there. Throws organization_not_found, organization_suspended, invalid_field if `send_to` is no number,
 * missing_field without an access token, already_taken if another organization has the number or the business account,
 * and request_in_progress.
 */
export async function connectNumber(
  ctx: ConnectContext,
  organizationId: string,
  given: ConnectionChoices,
): Promise<Connection> {
  const known = await requireTenant(ctx, organizationId)
  const testTo = given.send_to === undefined ? null : readTestRecipient(known, given.send_to)
  const verifyToken = given.verify_token ?? randomBytes(32).toString('base64url')
  const attempt = { id: newId(), verifyTokenHash: sha256(verifyToken), seconds: ATTEMPT_SECONDS }
  if (!(await beginConnectionAttempt(ctx.database, organizationId, attempt))) {
    const message = 'A number of the organization is being connected at this moment: wait until that has ended'
    throw new Problem('request_in_progress', message)
  }
  try {
    // What an attempt before this one has stored counts.
    const tenant = await requireTenant(ctx, organizationId)
    const secrets = openSecrets(ctx, tenant, given)
    const left = startCountdown(BUDGET_MS)
    const asking = { upstream: ctx.upstream, callMs: () => Math.min(ctx.upstreamTimeoutMs, left()) }
    const findings = await runSteps(ctx, asking, { tenant, given, secrets, verifyToken, testTo })
    const hidden = [secrets.accessToken, secrets.appSecret, given.pin, verifyToken]
    const connected = isConnected(findings)
    const after = await findTenant(ctx.database, organizationId)
    if (after?.upstream) await enqueueNumberCheck(ctx.database, organizationId)
    return {
      connected,
      upstream: after?.upstream ? presentUpstream(after.upstream) : null,
      steps: findings.map((finding) => presentStep(withoutSecrets(finding, hidden))),
    }
  } finally {
    await endConnectionAttempt(ctx.database, organizationId, attempt.id)
  }
}

/** The given secrets, else the stored ones. Throws missing_field. */
function openSecrets(
  { secrets }: Pick<Context, 'secrets'>,
  { id, upstream }: Tenant,
  given: Pick<ConnectionChoices, 'access_token' | 'app_secret'>,
): Secrets {
  const stored = upstream && openBusinessNumber({ secrets }, id, upstream)
  return {
    accessToken: given.access_token ?? stored?.accessToken ?? missingSetting('access_token'),
    appSecret: given.app_secret ?? stored?.appSecret,
  }
}

interface Attempt {
  tenant: Tenant
  given: ConnectionChoices
  secrets: Secrets
  verifyToken: string
  /** The number to which a test message goes; null: none is sent. */
  testTo: string | null
}

/** The findings of all steps; those that need one that failed are left out. */
async function runSteps(ctx: ConnectContext, asking: Asking, attempt: Attempt): Promise<StepFinding[]> {
  const { tenant, given, secrets } = attempt
  const { accessToken, appSecret } = secrets
  const { finding: ofToken, app, token } = await readToken(asking, secrets, ctx.clock())
  if (app === null) return [ofToken]
  if (appSecret === undefined) return [ofToken, { ...found('secret_missing'), field: 'app_secret' }]
  const ofSecret = await checkSecret(asking, { accessToken, appSecret }, app)
  if (ofSecret.reason !== 'secret_fits') return [ofToken, ofSecret]

  const wish = isFurther(attempt) ? await wishOfFurther(ctx, tenant, given) : wishOf(tenant, given)
  const search = await findNumber(asking, secrets, token, wish)
  if ('finding' in search) return [ofToken, ofSecret, search.finding]
  const { number } = search
  if (isFurther(attempt)) await storeFurther(ctx, attempt, { number, appSecret })
  else await store(ctx, attempt, { number, appSecret })
  const credentials = {
    ...{ accessToken, appSecret, appId: app.id },
    ...{ phoneNumberId: number.id, businessAccountId: number.accountId },
  }
  return [ofToken, ofSecret, ...(await finish(ctx, asking, attempt, { number, credentials }))]
}

/** Whether a number beside the first is meant. Without a first one, it becomes the first. */
function isFurther({ tenant: { upstream }, given }: Pick<Attempt, 'tenant' | 'given'>): boolean {
  return given.further === true && upstream !== null && given.phone_number_id !== upstream.phone_number_id
}

async function wishOfFurther(
  ctx: Pick<Context, 'database'>,
  tenant: Tenant,
  given: ConnectionChoices,
): Promise<NumberWish> {
  const { phone_number_id: phoneNumberId, business_account_id: businessAccountId } = given
  const numbers = await listNumbers(ctx, tenant)
  const except = numbers.map(({ phone_number_id }) => phone_number_id)
  return { phoneNumberId, businessAccountId, connected: null, except, isOpen: given.choose === true }
}

/** Stores the credentials of a further number, before anything is changed at the upstream. */
async function storeFurther(
  ctx: ConnectContext,
  { tenant, secrets: { accessToken } }: Attempt,
  { number, appSecret }: { number: ReachedNumber; appSecret: string },
): Promise<void> {
  const { id: phoneNumberId, accountId: businessAccountId, display } = number
  const credentials = { accessToken, appSecret, verifyToken: null }
  await putFurtherNumber(ctx, tenant, { phoneNumberId, businessAccountId, display, ...credentials })
}

/** A stored number stays the one that is meant, unless another one is given, or one is to be chosen. */
function wishOf({ upstream }: Tenant, given: ConnectionChoices): NumberWish {
  const { access_token: token, phone_number_id: phoneNumberId, business_account_id: businessAccountId } = given
  const wish = { phoneNumberId, businessAccountId, except: [], isOpen: given.choose === true }
  if (upstream === null || (wish.isOpen && phoneNumberId === undefined)) return { ...wish, connected: null }
  const connected = { phoneNumberId: upstream.phone_number_id, businessAccountId: upstream.business_account_id }
  const isKept = token === undefined && phoneNumberId === undefined && businessAccountId === undefined
  return isKept ? { ...wish, ...connected, connected } : { ...wish, connected }
}

/**
 * Claims the ids and stores the credentials, before anything is changed at the upstream. A verify token that is stored
 * stays valid until the upstream has accepted the new one.
 */
async function store(
  ctx: ConnectContext,
  { tenant, given, secrets, verifyToken }: Attempt,
  { number, appSecret }: { number: ReachedNumber; appSecret: string },
): Promise<void> {
  const { upstream, provider } = tenant
  const isSame =
    provider === 'upstream' &&
    upstream?.phone_number_id === number.id &&
    upstream.business_account_id === number.accountId &&
    given.access_token === undefined &&
    given.app_secret === undefined
  if (isSame) return
  await connectUpstream(ctx, tenant.id, {
    phone_number_id: number.id,
    business_account_id: number.accountId,
    access_token: secrets.accessToken,
    app_secret: appSecret,
    ...(upstream === null ? { verify_token: verifyToken } : {}),
  })
}

/** The steps after the credentials are stored. */
async function finish(
  ctx: ConnectContext,
  asking: Asking,
  attempt: Attempt,
  { number, credentials }: { number: ReachedNumber; credentials: NumberCredentials },
): Promise<StepFinding[]> {
  const { tenant, given, verifyToken } = attempt
  const readState = () => asking.upstream.connecting.readNumberState(credentials, asking.callMs())
  const read = await readState()
  const state = read.outcome === 'done' ? read.number : null
  const display = number.display ?? number.id
  const address = await findOurAddress(ctx)
  const reading = await readAddresses(asking, credentials, state, address)
  const ours = { ...address, verifyToken }
  const directed = await directCallbacks(asking, reading, { credentials, ours, way: given.callbacks })
  if (directed.hasVerified) await keepVerifyToken(ctx.database, tenant.id, number.id, sha256(verifyToken))
  const isFirst = !isFurther({ tenant, given })
  const isReplaced = directed.hasVerified && isFirst && tenant.upstream !== null && given.verify_token === undefined
  const replaced = isReplaced ? [found('verify_token_new')] : []
  const before = [judgeFound(read, credentials), ...directed.findings, ...replaced]
  const end = async (findings: StepFinding[]) => {
    const test = await sendTest(ctx, asking, attempt, { credentials, findings })
    const last = await findLastCallbacks(ctx.database, tenant.id, number.id)
    const received = test?.hasCallback ? { ...last, last_callback_at: ctx.clock() } : last
    return [...findings, ...(test ? [test.finding] : []), judgeReceived(received, display)]
  }
  if (state === null) return end(before)
  const registered = await registerIfNeeded(asking, state, credentials, given.pin)
  const again = registered.reason === 'registered_now' ? await readState() : read
  const judged = [...before, registered, ...judgeNumber(again.outcome === 'done' ? again.number : state)]
  // Callbacks that would go elsewhere come only once.
  if (!isConnected(before) || !state.isOnPhoneApp) return end(judged)
  const isNew = given.access_token !== undefined
  return end([...judged, await askForPhoneData(ctx, tenant.id, asking, { credentials, isNew })])
}

/** Sends the test message, if one is wanted and nothing stands in the way. */
async function sendTest(
  { database }: ConnectContext,
  asking: Asking,
  { tenant, testTo: to }: Attempt,
  { credentials, findings }: { credentials: NumberCredentials; findings: readonly StepFinding[] },
): Promise<TestMessage | null> {
  if (to === null) return null
  if (!isConnected(findings)) return { finding: found('sent_not_yet', { to }), hasCallback: false }
  return sendTestMessage({ database }, asking, { organizationId: tenant.id, credentials, to })
}

/** Whether nothing failed and nothing is left to choose. */
function isConnected(findings: readonly StepFinding[]): boolean {
  return findings.every((finding) => !['failed', 'choose'].includes(stateOf(finding)))
}
