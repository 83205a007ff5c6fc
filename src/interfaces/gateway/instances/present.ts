import type { Context } from '../../../context.js'
import type { InstanceWithWebhook } from '../../../core/instances/manage/create-with-webhook.js'
import type { ListedInstance } from '../../../core/instances/manage/list.js'
import { decryptSettings } from '../../../core/instances/manage/settings.js'
import type { InstanceWebhook } from '../../../core/instances/manage/webhook.js'
import { qrDataUrl } from '../../../lib/text/qr.js'
import { toIso } from '../../../model/contacts/contact.js'
import { type Instance, integrationOf } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { presentSettings } from './settings.js'

/** A code that links a phone; null: there is none to show. */
type Code = { code: string | null; pairingCode: string | null; count: number } | null

/** The state of an instance's connection. */
export function presentState({ name, state }: Instance) {
  return { instance: { instanceName: name, state } }
}

/** The state after a restart, under both names that clients read. */
export function presentRestart({ name, state }: Instance) {
  return { instance: { instanceName: name, state, status: state } }
}

/** A code that links a phone, as text and as the image of a QR code. */
export async function presentCode(code: Code) {
  if (code === null) return { pairingCode: null, code: null, base64: null, count: 0 }
  const { pairingCode, code: text, count } = code
  return { pairingCode, code: text, base64: text === null ? null : await qrDataUrl(text), count }
}

/** A new instance, with `qrcode` unless `code` is undefined. */
export async function presentNewInstance(ctx: Context, created: InstanceWithWebhook, code: Code | undefined) {
  const { instance, token, webhook } = created
  const isBusiness = instance.kind === 'business_api'
  return {
    instance: {
      instanceName: instance.name,
      instanceId: instance.id,
      integration: integrationOf(instance.kind),
      webhookWaBusiness: isBusiness ? `${ctx.publicUrl()}/hooks/upstream` : null,
      accessTokenWaBusiness: '',
      status: code ? 'connecting' : instance.state,
    },
    hash: token,
    webhook: webhook === null ? {} : presentNewWebhook(webhook),
    websocket: {},
    rabbitmq: {},
    nats: {},
    sqs: {},
    settings: presentSettings(decryptSettings(ctx, instance)),
    ...(code !== undefined && { qrcode: await presentCode(code) }),
  }
}

/** An instance in a list. */
export function presentRow(ctx: Context, tenant: Tenant, { instance, token, counts }: ListedInstance) {
  const { id, name, kind, state, owner, number, state_code: code } = instance
  const isClosed = state === 'close' && code !== null
  return {
    id,
    name,
    connectionStatus: state,
    ownerJid: owner === null ? null : `${owner}@s.whatsapp.net`,
    profileName: instance.profile_name,
    profilePicUrl: instance.profile_picture_url,
    integration: integrationOf(kind),
    number,
    businessId: businessIdOf(tenant, instance),
    token,
    clientName: 'parley',
    disconnectionReasonCode: isClosed ? code : null,
    disconnectionObject: null,
    disconnectionAt: isClosed ? toIso(instance.state_changed_at) : null,
    createdAt: toIso(instance.created_at),
    updatedAt: toIso(instance.updated_at),
    Chatwoot: null,
    Proxy: null,
    Rabbitmq: null,
    Nats: null,
    Sqs: null,
    Websocket: null,
    Setting: presentSettingRow(ctx, instance),
    _count: { Message: counts.messages, Contact: counts.contacts, Chat: counts.contacts },
  }
}

/** The settings as a row of their own, which clients of other gateways expect. Id and times are the instance's. */
function presentSettingRow(ctx: Context, instance: Instance) {
  return {
    id: instance.id,
    ...presentSettings(decryptSettings(ctx, instance)),
    createdAt: toIso(instance.created_at),
    updatedAt: toIso(instance.updated_at),
    instanceId: instance.id,
  }
}

function presentNewWebhook({ webhook, headers, secret }: InstanceWebhook) {
  return {
    webhookUrl: webhook.url,
    webhookHeaders: headers,
    webhookByEvents: webhook.by_events,
    webhookBase64: webhook.with_base64,
    ...(secret !== null && { secret }),
  }
}

function businessIdOf({ upstream }: Tenant, { kind, phone_number_id, business_account_id }: Instance): string | null {
  if (kind === 'business_api' && phone_number_id === null) return upstream?.business_account_id ?? null
  return business_account_id
}
