import { excerpt } from '../../lib/text/text.js'
import { toIso } from '../contacts/contact.js'
import { Problem } from '../problem.js'
import { EVERY_KIND, type Webhook } from '../webhooks/webhook.js'
import type { Instance } from './instance.js'

/** The events that an instance's webhook may name. Some never occur; naming them does no harm. */
export const GATEWAY_EVENTS = [
  'APPLICATION_STARTUP',
  'QRCODE_UPDATED',
  'MESSAGES_SET',
  'MESSAGES_UPSERT',
  'MESSAGES_EDITED',
  'MESSAGES_UPDATE',
  'MESSAGES_DELETE',
  'SEND_MESSAGE',
  'SEND_MESSAGE_UPDATE',
  'CONTACTS_SET',
  'CONTACTS_UPSERT',
  'CONTACTS_UPDATE',
  'PRESENCE_UPDATE',
  'CHATS_SET',
  'CHATS_UPSERT',
  'CHATS_UPDATE',
  'CHATS_DELETE',
  'GROUPS_UPSERT',
  'GROUPS_UPDATE',
  'GROUP_UPDATE',
  'GROUP_PARTICIPANTS_UPDATE',
  'CONNECTION_UPDATE',
  'LABELS_EDIT',
  'LABELS_ASSOCIATION',
  'CALL',
  'TYPEBOT_START',
  'TYPEBOT_CHANGE_STATUS',
  'REMOVE_INSTANCE',
  'LOGOUT_INSTANCE',
  'INSTANCE_CREATE',
  'INSTANCE_DELETE',
  'STATUS_INSTANCE',
  'MESSAGING_HISTORY_SET',
  'NEW_JWT_TOKEN',
  'CHAMA_AI_ACTION',
] as const

/** A pseudo-header: its value is the secret that signs a token for each attempt. */
export const JWT_HEADER = 'jwt_key'

export type ShownInstanceWebhook = Pick<
  Webhook,
  'id' | 'url' | 'events' | 'active' | 'by_events' | 'with_base64' | 'instance_id' | 'created_at' | 'updated_at'
>

/** The settings of an instance's webhook. */
export interface InstanceWebhookFields {
  enabled: boolean
  /** Null: unchanged, if the webhook is switched off. */
  url: string | null
  /** In any spelling; empty: all. */
  events: readonly string[]
  headers: Readonly<Record<string, string>>
  byEvents: boolean
  base64: boolean
}

const MAX_HEADERS = 20
const MAX_HEADER_NAME = 100
const MAX_HEADER_VALUE = 4_096
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
/** Headers that Parley sets itself. */
const OUR_HEADER =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer|proxy-.*|webhook-.*)$/

/** The key of an event's name in any spelling: messages.upsert, messages-upsert → MESSAGES_UPSERT. */
export function gatewayEventKey(name: string): string {
  return name.replace(/[.-]/g, '_').toUpperCase()
}

/** The keys by which webhooks ask for an event; changes of groups have two, as clients spell them in both ways. */
export function gatewayEventKeys(name: string): string[] {
  const key = gatewayEventKey(name)
  return key === 'GROUPS_UPDATE' ? [key, 'GROUP_UPDATE'] : [key]
}

/** The keys of the named events, each once; EVERY_KIND for none. Throws invalid_field with the unknown names. */
export function readGatewayEvents(given: readonly string[]): string[] {
  const keys = [...new Set(given.map(gatewayEventKey))]
  const unknown = given.filter((name) => !GATEWAY_EVENTS.some((known) => known === gatewayEventKey(name)))
  if (unknown.length === 0) return keys.length === 0 ? [EVERY_KIND] : keys
  const names = unknown.map((name) => `"${excerpt(name)}"`).join(', ')
  throw new Problem(
    'invalid_field',
    `events: there is no ${names}. Use names from ${GATEWAY_EVENTS.join(', ')}, or none for all events`,
  )
}

/** Checks custom headers. Throws invalid_field. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const names = Object.keys(headers)
  if (names.length > MAX_HEADERS) refuse(`has ${names.length} headers: it may have at most ${MAX_HEADERS}`)
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const shown = `"${excerpt(name)}"`
    const folded = name.toLowerCase()
    if (!HEADER_NAME.test(name)) refuse(`${shown} is not a header's name: use letters, digits and -`)
    if (name.length > MAX_HEADER_NAME) refuse(`${shown} is longer than ${MAX_HEADER_NAME} characters`)
    if (OUR_HEADER.test(folded)) refuse(`${shown} is a header that the service writes itself: leave it out`)
    if (seen.has(folded)) refuse(`${shown} is there twice, in upper and lower case`)
    if (value.length > MAX_HEADER_VALUE) refuse(`${shown} has a value of more than ${MAX_HEADER_VALUE} characters`)
    if (name !== JWT_HEADER && !HEADER_VALUE.test(value)) {
      refuse(`${shown} has a value with other characters than printable ASCII, such as a line break`)
    }
    seen.add(folded)
  }
}

/** The webhook as the gateway shows it. */
export function presentGatewayWebhook(webhook: ShownInstanceWebhook, headers: Readonly<Record<string, string>>) {
  return {
    id: webhook.id,
    url: webhook.url,
    headers,
    enabled: webhook.active,
    events: shownEvents(webhook),
    webhookByEvents: webhook.by_events,
    webhookBase64: webhook.with_base64,
    createdAt: toIso(webhook.created_at),
    updatedAt: toIso(webhook.updated_at),
    instanceId: webhook.instance_id,
  }
}

/** The same for clients of the older version. */
export function presentOlderWebhook(
  webhook: ShownInstanceWebhook,
  { name }: Pick<Instance, 'name'>,
  secret: string | null,
) {
  return {
    webhook: {
      instanceName: name,
      webhook: {
        enabled: webhook.active,
        url: webhook.url,
        events: shownEvents(webhook),
        webhook_by_events: webhook.by_events,
        webhook_base64: webhook.with_base64,
        ...(secret !== null && { secret }),
      },
    },
  }
}

function shownEvents({ events }: ShownInstanceWebhook): readonly string[] {
  return events.includes(EVERY_KIND) ? GATEWAY_EVENTS : events
}

function refuse(complaint: string): never {
  throw new Problem('invalid_field', `headers ${complaint}`)
}
