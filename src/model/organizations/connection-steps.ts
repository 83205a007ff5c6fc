import { CONNECT_GUIDE } from '../guides.js'
import { APP_SECRET_REASONS } from './connecting/app-secret.js'
import { CALLBACKS_REASONS } from './connecting/callbacks.js'
import { HEALTH_REASONS } from './connecting/health.js'
import { NAME_REASONS } from './connecting/name.js'
import { NUMBER_REASONS } from './connecting/number.js'
import { QUALITY_REASONS } from './connecting/quality.js'
import type { Reason, StepState } from './connecting/reason.js'
import { RECEIVED_REASONS } from './connecting/received.js'
import { REGISTERED_REASONS } from './connecting/registered.js'
import { SENT_REASONS } from './connecting/sent.js'
import { SUBSCRIBED_REASONS } from './connecting/subscribed.js'
import { TOKEN_REASONS } from './connecting/token.js'

export type { StepState } from './connecting/reason.js'

/** What each step can find, and the section of the guide about it. The steps are in the order in which they are shown. */
const STEPS = {
  token: { section: 'the-token', reasons: TOKEN_REASONS },
  app_secret: { section: 'what-you-need', reasons: APP_SECRET_REASONS },
  number: { section: 'the-token', reasons: NUMBER_REASONS },
  callbacks: { section: 'callbacks-do-not-come', reasons: CALLBACKS_REASONS },
  subscribed: { section: 'callbacks-do-not-come', reasons: SUBSCRIBED_REASONS },
  registered: { section: 'registration', reasons: REGISTERED_REASONS },
  name: { section: 'your-own-number', reasons: NAME_REASONS },
  quality: { section: 'staying-connected', reasons: QUALITY_REASONS },
  health: { section: 'staying-connected', reasons: HEALTH_REASONS },
  sent: { section: 'sending', reasons: SENT_REASONS },
  received: { section: 'callbacks-do-not-come', reasons: RECEIVED_REASONS },
}

export type ConnectionStepName = keyof typeof STEPS

/** What a step can find. */
export type ReasonOf<Step extends ConnectionStepName> = Step extends unknown
  ? keyof (typeof STEPS)[Step]['reasons']
  : never

export type ConnectionReason = ReasonOf<ConnectionStepName>

/** The steps of connecting a number, in the order in which they are shown. */
export const CONNECTION_STEPS = Object.keys(STEPS) as readonly ConnectionStepName[]

/**
 * Everything that connecting a number, or checking it, can find, with its step. The page has the same texts in its other
 * languages (console/src/i18n/connecting).
 */
export const CONNECTION_REASONS = Object.fromEntries(
  CONNECTION_STEPS.flatMap((step) =>
    Object.entries<Reason>(STEPS[step].reasons).map(([name, reason]) => [
      name,
      { ...reason, step, section: reason.section ?? STEPS[step].section },
    ]),
  ),
) as Record<ConnectionReason, StepReason>

interface StepReason extends Reason {
  step: ConnectionStepName
}

/** A value that the caller may give in `field`, with a text for people. */
export interface StepChoice {
  value: string
  label: string
}

/** What a step has found. */
export interface StepFinding {
  reason: ConnectionReason
  /** The values of its texts. */
  values?: Record<string, string | number>
  /** The upstream's error. */
  upstreamCode?: number
  upstreamSubcode?: number
  /** The field of the request that decides. */
  field?: string
  choices?: StepChoice[]
}

/** A finding as the API shows it. */
export interface ConnectionStep {
  step: ConnectionStepName
  state: StepState
  reason: ConnectionReason
  values: Record<string, string | number>
  sentence: string
  remedy: string | null
  /** The upstream's page where it is done. */
  link: string | null
  /** The section of the docs that describes it; null for ok. */
  docs: string | null
  upstream_code?: number
  upstream_subcode?: number
  field?: string
  choices?: StepChoice[]
}

/** A finding with its texts in English. */
export function presentStep({ reason, values = {}, ...finding }: StepFinding): ConnectionStep {
  const { step, state, sentence, remedy, link, section } = reasonOf(reason)
  const { upstreamCode, upstreamSubcode, field, choices } = finding
  return {
    step,
    state,
    reason,
    values,
    sentence: fill(sentence, values),
    remedy: remedy === undefined ? null : fill(remedy, values),
    link: link ?? null,
    docs: state === 'ok' || section === undefined ? null : `${CONNECT_GUIDE}#${section}`,
    ...(upstreamCode === undefined ? {} : { upstream_code: upstreamCode }),
    ...(upstreamSubcode ? { upstream_subcode: upstreamSubcode } : {}),
    ...(field === undefined ? {} : { field }),
    ...(choices === undefined ? {} : { choices }),
  }
}

/** The state of a reason. */
export function stateOf({ reason }: Pick<StepFinding, 'reason'>): StepState {
  return reasonOf(reason).state
}

/** A later version may have stored a reason that this one does not know. */
function reasonOf(reason: string): StepReason {
  return Object.hasOwn(CONNECTION_REASONS, reason)
    ? CONNECTION_REASONS[reason as ConnectionReason]
    : { step: 'health', state: 'warning', sentence: reason }
}

function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '–'))
}
