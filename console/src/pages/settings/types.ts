// Answers of the service under /settings, by the types of its presenters.
import type { ConsoleCode, ConsoleInstance } from '../../../../src/model/instances/instance.js'
import type { ConnectionStep } from '../../../../src/model/organizations/connection-steps.js'
import type { PresentedNotice } from '../../../../src/model/organizations/notice.js'
import type { ShownNumberState } from '../../../../src/model/organizations/number-state.js'
import type { Scope } from '../../../../src/model/organizations/scope.js'
import type { ShownUpstream } from '../../../../src/model/organizations/settings.js'
import type { Sentence } from '../../../../src/model/sentence.js'
import type { EVENT_KINDS, presentDelivery, presentWebhook } from '../../../../src/model/webhooks/webhook.js'
import type { Member } from '../../api/types.js'

export type {
  ConsoleCode as Code,
  ConsoleInstance as Instance,
  InstanceKind,
} from '../../../../src/model/instances/instance.js'
export type { ConnectionStep, StepState } from '../../../../src/model/organizations/connection-steps.js'
export type { PresentedPhoneHistory as PhoneHistory } from '../../../../src/model/organizations/phone-history.js'
export type { Scope } from '../../../../src/model/organizations/scope.js'
export type {
  ConnectionCheck,
  ShownSettings as Settings,
  ShownUpstream as Upstream,
} from '../../../../src/model/organizations/settings.js'
export type { DeliveryStatus } from '../../../../src/model/webhooks/webhook.js'

/** A notice, with its texts as sentences; null if the English text is all there is. */
export type Notice = PresentedNotice & { sentences: { title: Sentence | null; advice: Sentence | null } }

export type Webhook = ReturnType<typeof presentWebhook>
export type Delivery = ReturnType<typeof presentDelivery>
export type Attempt = Delivery['attempts'][number]
export type EventKind = (typeof EVENT_KINDS)[number]

/** An API key. */
export interface ApiKey {
  id: string
  name: string
  prefix: string
  scopes: Scope[]
  expires_at: string | null
  /** In the future while a replaced key still works. */
  revoked_at: string | null
  last_used_at: string | null
  created_at: string
}

/** What connecting a number has found and done. */
export interface Connection {
  connected: boolean
  upstream: ShownUpstream | null
  steps: ConnectionStep[]
}

/** A number with its last check. */
export interface NumberHealth extends ShownNumberState {
  last_send_at: string | null
}

/** A one-time sign-in link of a member. */
export interface SignInLink {
  url: string
  expires_at: string
}

/** A member with a sign-in link. */
export interface Invitation {
  member: Member
  link: SignInLink
}

/** An instance with its current code, if it shows one. */
export interface Connecting {
  instance: ConsoleInstance
  code: ConsoleCode | null
}
