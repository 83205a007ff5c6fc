import { Type } from 'typebox'
import { excerpt } from '../../lib/text/text.js'
import { toIso } from '../contacts/contact.js'
import { Nullable } from '../fields.js'
import { Problem } from '../problem.js'

/** The event types that endpoints can subscribe to and the feed shows. */
export const EVENT_KINDS = [
  'message.received',
  'message.scheduled',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.reaction',
  'message.edited',
  'message.deleted',
  'call.missed',
  'call.ended',
  'conversation.handed_over',
  'group.updated',
  'contact.created',
  'contact.updated',
  'contact.opted_out',
  'contact.opted_in',
  'contact.merged',
  'contact.unmerged',
  'broadcast.started',
  'broadcast.completed',
  'template.status_changed',
  'template.updated',
  'template.quality_changed',
  'account.updated',
  'number.updated',
  'history.imported',
  'webhook.disabled',
] as const

/** All types. */
export const EVERY_KIND = '*'
/** An event for testing one endpoint. */
export const TEST_KIND = 'webhook.test'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/**
 * A webhook of an organization or of one of its instances, as its row is stored; the secrets are encrypted
 * (`${organizationId}:webhook.secret`).
 */
export interface Webhook {
  organization_id: string
  id: string
  url: string
  description: string | null
  /** Event types, for an instance's webhook those of the gateway; or EVERY_KIND among them. */
  events: string[]
  secret: Buffer
  /** Also signs, until `previous_secret_until`. */
  previous_secret: Buffer | null
  previous_secret_until: Date | null
  active: boolean
  /** Why it was disabled automatically. */
  disabled_reason: string | null
  /** The first failure since the last success. */
  failing_since: Date | null
  /** Only events with a higher number are for it. */
  since_seq: number
  /** The instance of a gateway webhook; Interface A does not show these. */
  instance_id: string | null
  /** Each event is posted to its own path below `url`. */
  by_events: boolean
  /** Files are included in their messages as base64. */
  with_base64: boolean
  /** Encrypted (`${organizationId}:webhook.headers`): custom headers, as a JSON object. */
  headers: Buffer | null
  created_at: Date
  updated_at: Date
}

/** The public fields of a webhook, without secrets; in events the dates are ISO strings. */
export type ShownWebhook = Pick<Webhook, 'id' | 'url' | 'events' | 'description' | 'active' | 'disabled_reason'> & {
  created_at: Date | string
  updated_at: Date | string
}

/** One delivery attempt. */
export interface AttemptRow {
  /** ISO 8601. */
  at: string
  /** Null if there was no response. */
  response_status: number | null
  error: string | null
  duration_ms: number
  /** The beginning of the response body. */
  response_body: string | null
}

/** An event for an endpoint, as its row is stored. */
export interface Delivery {
  organization_id: string
  id: string
  webhook_id: string
  event_seq: number
  event_id: string
  event_type: string
  contact_id: string | null
  /** False for a replay, a test or an event without a contact, which wait for no other event. */
  in_order: boolean
  status: DeliveryStatus
  attempts: AttemptRow[]
  /** Null if it has ended or waits for an earlier event of its contact. */
  next_attempt_at: Date | null
  attempted_at: Date | null
  created_at: Date
}

const MAX_URL_LENGTH = 2_048
const MAX_DESCRIPTION = 500
const MAX_KINDS = 50

/** The input for a webhook. */
export const SetWebhook = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description: 'The http or https URL to which events are posted',
  }),
  events: Type.Array(Type.String({ maxLength: 100 }), {
    minItems: 1,
    maxItems: MAX_KINDS,
    description: `The event types to send, or ${EVERY_KIND} for all: ${EVENT_KINDS.join(', ')}`,
  }),
  description: Type.Optional(Nullable(Type.String({ maxLength: MAX_DESCRIPTION }))),
})

/** The named event types, each once. Throws for the first unknown one; `field` is its name in the error. */
export function readKinds(
  given: readonly string[],
  field: string,
  code: 'invalid_field' | 'invalid_parameter',
): string[] {
  const unknown = given.find((kind) => kind !== EVERY_KIND && !EVENT_KINDS.some((known) => known === kind))
  if (unknown === undefined) return [...new Set(given)]
  throw new Problem(
    code,
    `${field} "${excerpt(unknown)}" is not one of ${EVENT_KINDS.join(', ')} and ${EVERY_KIND} for all`,
  )
}

/** The webhook as the API and events show it; `disabled_reason` comes last. */
export function presentWebhook(webhook: ShownWebhook) {
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    description: webhook.description,
    active: webhook.active,
    created_at: toIso(webhook.created_at),
    updated_at: toIso(webhook.updated_at),
    disabled_reason: webhook.disabled_reason,
  }
}

/** The delivery as the API shows it; of an attempt, the response comes last. */
export function presentDelivery(delivery: Delivery) {
  return {
    id: delivery.id,
    webhook_id: delivery.webhook_id,
    event_id: delivery.event_id,
    event_type: delivery.event_type,
    status: delivery.status,
    attempts: delivery.attempts.map(presentAttempt),
    next_attempt_at: toIso(delivery.next_attempt_at),
    created_at: toIso(delivery.created_at),
  }
}

function presentAttempt({ at, response_status, error, duration_ms, response_body }: AttemptRow) {
  return { at: toIso(at), response_status, error, duration_ms, response_body }
}
