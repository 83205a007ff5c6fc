import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import type { Asked } from '../../../upstream/connecting/ask.js'
import type { VerifiedAddress } from '../../../upstream/connecting/subscriptions.js'
import {
  type AddressReading,
  CALLBACK_FIELDS,
  FURTHER_FIELDS,
  isCallable,
  judgeAddresses,
  judgeOverridden,
  type OurAddress,
  type Override,
  overridesOf,
} from './addresses.js'
import { type Asking, found, foundError, type NumberCredentials } from './findings.js'

/** Where callbacks are to go if the app's address, or an override, belongs to another program. */
export type CallbackWay = 'app' | 'account' | 'number' | 'none'

/** What directing the callbacks needs. */
export interface Directing {
  credentials: NumberCredentials
  /** Our address, and the token with which we answer while it is verified. */
  ours: VerifiedAddress & OurAddress
  /** What the caller has chosen. */
  way: CallbackWay | undefined
}

/** The findings of `callbacks` and `subscribed`; whether the upstream has verified our address with our token. */
export interface Directed {
  findings: StepFinding[]
  hasVerified: boolean
}

interface Step {
  finding: StepFinding
  hasVerified: boolean
}

/** The code of an address that did not answer as it must. */
const NOT_VERIFIED = 2200
const INVALID_PARAMETER = 100

/**
 * Has the upstream call us: sets the app's address, subscribes the app, sets or removes overrides. What belongs to
 * another program changes only in the way that was chosen; otherwise a finding asks for it, and an app that is not
 * subscribed yet is not: messages would go to the other program.
 */
export async function directCallbacks(
  asking: Asking,
  reading: AddressReading,
  directing: Directing,
): Promise<Directed> {
  const { url } = directing.ours
  if (!isCallable(directing.ours)) return { findings: [found('callbacks_not_public', { url })], hasVerified: false }
  const app = await directApp(asking, reading, directing)
  if (app.finding.reason === 'callbacks_elsewhere' && !isSubscribed(reading, directing)) {
    return { findings: [app.finding], hasVerified: false }
  }
  const account = await directAccount(asking, reading, directing)
  const isOverridden = ['override_set', 'subscribed_right'].includes(account.finding.reason)
  const ofApp =
    app.finding.reason === 'callbacks_overridden' && !isOverridden
      ? { ...app.finding, reason: 'callbacks_foreign' as const }
      : app.finding
  return { findings: [ofApp, account.finding], hasVerified: app.hasVerified || account.hasVerified }
}

function isSubscribed({ apps }: AddressReading, { credentials: { appId } }: Directing): boolean {
  return apps.outcome === 'done' && apps.apps.some(({ id }) => id === appId)
}

async function directApp(asking: Asking, reading: AddressReading, directing: Directing): Promise<Step> {
  const { credentials, ours, way } = directing
  const [judged] = judgeAddresses(reading, credentials, ours, null)
  const seen = judged ?? found('callbacks_missing')
  if (reading.address.outcome !== 'done' || seen.reason === 'callbacks_right') return unverified(seen)
  const { address } = reading.address
  const { url, fields } = address
  if (url !== null && url !== ours.url && way !== 'app') {
    if (way === 'account' || way === 'number') return unverified(judgeOverridden(address))
    if (way === 'none') return unverified(found('callbacks_left', { url }))
    return unverified(seen.reason === 'callbacks_foreign' ? askForWay('callbacks_elsewhere', { url }) : seen)
  }
  const wanted = [...new Set([...(url === ours.url ? fields : []), ...CALLBACK_FIELDS])]
  const set = await setAppAddress(asking, directing, wanted)
  if (set.outcome === 'done') return { finding: found('callbacks_set', { url: ours.url }), hasVerified: true }
  return unverified(judgeSetting(set, ours.url))
}

function unverified(finding: StepFinding): Step {
  return { finding, hasVerified: false }
}

/** Sets the app's address, with all fields that Parley reads if the upstream knows them. */
async function setAppAddress(
  { upstream: { connecting }, callMs }: Asking,
  { credentials: { appId, appSecret }, ours: address }: Directing,
  fields: string[],
): Promise<Asked<object>> {
  const given = { app: { appId, appSecret }, address }
  const all = [...new Set([...fields, ...FURTHER_FIELDS])]
  const set = await connecting.setAppAddress({ ...given, fields: all }, callMs())
  if (set.outcome !== 'refused' || set.code !== INVALID_PARAMETER) return set
  return connecting.setAppAddress({ ...given, fields }, callMs())
}

function judgeSetting(set: Exclude<Asked<object>, { outcome: 'done' }>, url: string): StepFinding {
  if (set.outcome === 'failed') return foundError('callbacks_unavailable', set)
  return set.code === NOT_VERIFIED
    ? foundError('callbacks_unverified', set, { url })
    : foundError('callbacks_refused', set)
}

async function directAccount(asking: Asking, reading: AddressReading, directing: Directing): Promise<Step> {
  const { credentials, ours, way } = directing
  const [, seen = found('not_subscribed')] = judgeAddresses(reading, credentials, ours, null)
  if (reading.apps.outcome !== 'done') return unverified(seen)
  const overrides = overridesOf(reading, credentials.appId)
  const foreign = overrides.filter(({ url }) => url !== ours.url)
  const [counting] = overrides
  if (counting && counting.url !== ours.url) {
    if (way === undefined) return unverified(askForWay('override_elsewhere', { ...counting }))
    if (way === 'none') return unverified(found('override_left', { ...counting }))
  }
  const subscription = isSubscribed(reading, directing) ? seen : await subscribe(asking, directing, null)
  if (!['subscribed_now', 'subscribed_right', 'override_unread', 'override_foreign'].includes(subscription.reason)) {
    return unverified(subscription)
  }
  if (counting?.url === ours.url) return unverified(subscription)
  // A number's override counts before that of its account, and this before the app's address.
  const inTheWay = way === 'app' ? foreign : way === 'account' ? foreign.filter(({ whose }) => whose === 'number') : []
  let removed: StepFinding | null = null
  for (const override of inTheWay) {
    removed = await removeOverride(asking, directing, override)
    if (removed.reason !== 'subscribed_now') return unverified(removed)
  }
  if (way === 'account' || way === 'number') return setOverride(asking, directing, way)
  return unverified(removed ?? subscription)
}

/** Subscribes the app, and removes an override of the account; with `override`, sets it. */
async function subscribe(
  { upstream: { connecting }, callMs }: Asking,
  { credentials }: Directing,
  override: VerifiedAddress | null,
): Promise<StepFinding> {
  const { businessAccountId: account } = credentials
  const asked = await connecting.subscribeApp(credentials, override, callMs())
  if (asked.outcome === 'done') {
    return override === null
      ? found('subscribed_now', { account })
      : found('override_set', { whose: 'account', url: override.url })
  }
  if (asked.outcome === 'failed') return foundError('subscribed_unavailable', asked)
  return asked.code === NOT_VERIFIED && override !== null
    ? foundError('override_unverified', asked, { url: override.url })
    : foundError('subscribed_refused', asked, { account })
}

async function setOverride(asking: Asking, directing: Directing, whose: 'account' | 'number'): Promise<Step> {
  const { ours } = directing
  const finding =
    whose === 'account' ? await subscribe(asking, directing, ours) : await overrideNumber(asking, directing, ours)
  return { finding, hasVerified: finding.reason === 'override_set' }
}

async function overrideNumber(
  { upstream: { connecting }, callMs }: Asking,
  { credentials }: Directing,
  override: VerifiedAddress | null,
): Promise<StepFinding> {
  const { businessAccountId: account } = credentials
  const asked = await connecting.overrideNumber(credentials, override, callMs())
  if (asked.outcome === 'done') {
    return override === null
      ? found('subscribed_now', { account })
      : found('override_set', { whose: 'number', url: override.url })
  }
  if (asked.outcome === 'failed') return foundError('subscribed_unavailable', asked)
  return asked.code === NOT_VERIFIED && override !== null
    ? foundError('override_unverified', asked, { url: override.url })
    : foundError('override_refused', asked)
}

/** The app's own address counts again. */
function removeOverride(asking: Asking, directing: Directing, { whose }: Override): Promise<StepFinding> {
  return whose === 'account' ? subscribe(asking, directing, null) : overrideNumber(asking, directing, null)
}

function askForWay(reason: 'callbacks_elsewhere' | 'override_elsewhere', values: Record<string, string>): StepFinding {
  const choices = [
    { value: 'app', label: 'All callbacks of the app come to Parley; the other program gets none' },
    { value: 'account', label: 'Messages of this business account come to Parley; reports on templates do not' },
    { value: 'number', label: 'Messages of this number come to Parley; reports on templates do not' },
    { value: 'none', label: 'Leave it: the other program passes the callbacks on' },
  ]
  return { ...found(reason, values), field: 'callbacks', choices }
}
