import type { Context } from '../../../context.js'
import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import type { Asked } from '../../../upstream/connecting/ask.js'
import type { NumberReading } from '../../../upstream/connecting/number-state.js'
import type { AppAddress, SubscribedApp } from '../../../upstream/connecting/subscriptions.js'
import { type Asking, found, foundError, type NumberCredentials } from './findings.js'

/** Where the callbacks of a number go, as far as the upstream says. */
export interface AddressReading {
  address: Asked<{ address: AppAddress }>
  apps: Asked<{ apps: SubscribedApp[] }>
  /** The override of the number alone; null: none, undefined: it could not be read. */
  numberOverride: string | null | undefined
}

/** The fields that Parley needs. */
export const CALLBACK_FIELDS = ['messages', 'message_template_status_update']

/**
 * The fields that it reads besides (core/callbacks). Those that are not in the upstream's list of fields (standby,
 * messaging_handovers) are left out: an unknown one is refused.
 */
export const FURTHER_FIELDS = [
  ...['user_preferences', 'calls', 'smb_message_echoes', 'smb_app_state_sync', 'history', 'group_lifecycle_update'],
  ...['group_participants_update', 'group_settings_update', 'group_status_update', 'account_update', 'account_alerts'],
  ...['account_review_update', 'account_settings_update', 'business_capability_update', 'security', 'flows'],
  ...['payment_configuration_update', 'phone_number_quality_update', 'phone_number_name_update'],
  ...['message_template_quality_update', 'message_template_components_update', 'template_category_update'],
]

/** Whether an address is on this machine, where the upstream calls nothing, and a simulator does. */
export function isOnThisMachine(url: string): boolean {
  return LOOPBACK.has(new URL(url).hostname)
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const PATH = '/hooks/upstream'

/** Our callback address. At a simulator every process registers its own one, and each of them counts as ours. */
export interface OurAddress {
  url: string
  isAtSimulator: boolean
}

/** Where the upstream is to call this service. */
export async function findOurAddress({
  publicUrl,
  isSimulated,
}: Pick<Context, 'publicUrl' | 'isSimulated'>): Promise<OurAddress> {
  return { url: publicUrl() + PATH, isAtSimulator: await isSimulated() }
}

/** Reads the address of the app and the subscriptions of the business account. */
export async function readAddresses(
  { upstream: { connecting }, callMs }: Asking,
  credentials: NumberCredentials,
  number: NumberReading | null,
  ours: OurAddress,
): Promise<AddressReading> {
  const [address, apps] = await Promise.all([
    connecting.readAppAddress(credentials, callMs()),
    connecting.listSubscribedApps(credentials, callMs()),
  ])
  if (address.outcome === 'done' && address.address.url !== null && isOurs(address.address.url, ours)) {
    address.address.url = ours.url
  }
  return { address, apps, numberOverride: number?.callbacks?.number }
}

function isOurs(url: string, { url: ours, isAtSimulator }: OurAddress): boolean {
  if (url === ours || !isAtSimulator || !URL.canParse(url)) return url === ours
  return isOnThisMachine(url) && new URL(url).pathname === PATH
}

/** Whether the upstream can call us: by https, or a simulator on this machine; no plus, which it sends as a space. */
export function isCallable({ url, isAtSimulator }: OurAddress): boolean {
  const { protocol, pathname } = new URL(url)
  return (isOnThisMachine(url) ? isAtSimulator : protocol === 'https:') && !pathname.includes('+')
}

/** An address that replaces the app's own one, for a number or for an account. */
export interface Override {
  whose: 'number' | 'account'
  url: string
}

/** The overrides; the first one counts. */
export function overridesOf({ apps, numberOverride }: AddressReading, appId: string): Override[] {
  const ofAccount = apps.outcome === 'done' ? apps.apps.find(({ id }) => id === appId)?.override : null
  return [
    ...(numberOverride ? [{ whose: 'number', url: numberOverride } as const] : []),
    ...(ofAccount ? [{ whose: 'account', url: ofAccount } as const] : []),
  ]
}

/**
 * What a check says about the addresses: `callbacks` and `subscribed`. It changes nothing. `passedOnAt`: when a callback
 * came lately; then another address passes them on.
 */
export function judgeAddresses(
  reading: AddressReading,
  credentials: Pick<NumberCredentials, 'appId' | 'businessAccountId'>,
  ours: OurAddress,
  passedOnAt: Date | null,
): StepFinding[] {
  const [override = null] = overridesOf(reading, credentials.appId)
  const where = { override, ours, passedOnAt }
  return [judgeApp(reading, where), judgeSubscription(reading, credentials, where)]
}

interface Where {
  override: Override | null
  ours: OurAddress
  passedOnAt: Date | null
}

function judgeApp({ address: asked }: AddressReading, { override, ours, passedOnAt }: Where): StepFinding {
  if (asked.outcome === 'refused') return foundError('callbacks_refused', asked)
  if (asked.outcome === 'failed') return foundError('callbacks_unavailable', asked)
  const { address } = asked
  const { url } = ours
  if (address.url !== url && override?.url === url) return judgeOverridden(address)
  if (address.url !== null && address.url !== url && passedOnAt !== null) {
    return found('callbacks_passed_on', { url: address.url, at: passedOnAt.toISOString() })
  }
  if (address.url !== url && !isCallable(ours)) return found('callbacks_not_public', { url })
  if (address.url === null) return found('callbacks_missing')
  if (address.url !== url) return found('callbacks_foreign', { url: address.url })
  const lacking = CALLBACK_FIELDS.filter((field) => !address.fields.includes(field))
  return lacking.length > 0
    ? found('callbacks_lack_fields', { fields: lacking.join(', ') })
    : found('callbacks_right', { url })
}

/** The app's address is another one, and an override directs messages to us: the app's fields count for it, too. */
export function judgeOverridden({ url, fields }: AppAddress): StepFinding {
  const isReported = url === null || fields.includes('messages')
  return found(isReported ? 'callbacks_overridden' : 'messages_not_ticked', { url: url ?? '–' })
}

function judgeSubscription(
  { apps: asked, numberOverride }: AddressReading,
  { appId, businessAccountId: account }: Pick<NumberCredentials, 'appId' | 'businessAccountId'>,
  { override, ours, passedOnAt }: Where,
): StepFinding {
  if (asked.outcome === 'refused') return foundError('subscribed_refused', asked, { account })
  if (asked.outcome === 'failed') return foundError('subscribed_unavailable', asked)
  if (!asked.apps.some(({ id }) => id === appId)) return found('not_subscribed', { account })
  if (override !== null && override.url !== ours.url) {
    return passedOnAt === null
      ? found('override_foreign', { ...override })
      : found('override_passed_on', { ...override, at: passedOnAt.toISOString() })
  }
  return numberOverride === undefined ? found('override_unread') : found('subscribed_right', { account })
}
