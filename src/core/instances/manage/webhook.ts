import type { Context } from '../../../context.js'
import { isForeignKeyViolation } from '../../../database/errors.js'
import type { Queryable } from '../../../database/pool.js'
import { newWebhookSecret } from '../../../lib/crypto/standard-webhooks.js'
import {
  checkHeaders,
  type InstanceWebhookFields,
  readGatewayEvents,
  type ShownInstanceWebhook,
} from '../../../model/instances/gateway-webhook.js'
import type { Instance } from '../../../model/instances/instance.js'
import {
  findInstanceWebhook as findRow,
  putInstanceWebhook,
  switchOffInstanceWebhook,
} from '../../../storage/instances/webhooks.js'
import { requireCallable } from '../../webhooks/endpoints.js'
import {
  decryptWebhookHeaders,
  decryptWebhookSecrets,
  encryptWebhookHeaders,
  encryptWebhookSecret,
} from '../../webhooks/secrets.js'
import { instanceNotFound } from './find.js'

export interface InstanceWebhook {
  webhook: ShownInstanceWebhook
  headers: Record<string, string>
  /** `whsec_…`, shown once; null if the webhook existed before. */
  secret: string | null
}

/** The fields of a webhook, with the id that it gets if the instance has none yet. */
type WantedWebhook = InstanceWebhookFields & { id: string }

type WebhookContext = Pick<Context, 'database' | 'secrets'>

/**
 * Sets the webhook of an instance for events from now on, under the given id if it has none yet; a disabled one is
 * enabled. Absent fields get their defaults. A webhook that is switched off keeps its URL and needs no callable one;
 * without any URL, nothing is stored. Throws invalid_field, instance_not_found.
 */
export async function setInstanceWebhook(
  ctx: WebhookContext & Pick<Context, 'endpoints' | 'notifications' | 'clock'>,
  instance: Instance,
  fields: WantedWebhook,
): Promise<InstanceWebhook> {
  const url = await checkInstanceWebhook(ctx, fields)
  if (url === null) return switchOff(ctx, instance, fields)
  const set = await refusingDeleted(instance, () =>
    ctx.database.transaction((transaction) => put(ctx, transaction, instance, { ...fields, url })),
  )
  ctx.notifications.send({ topic: 'webhooks', organizationId: instance.organization_id })
  return set
}

/**
 * Inserts the webhook of an instance in the transaction that creates the instance; `url` is the result of
 * checkInstanceWebhook. Send the notification `webhooks` after the commit.
 */
export async function insertInstanceWebhook(
  ctx: Pick<Context, 'secrets' | 'clock'>,
  transaction: Queryable,
  instance: Instance,
  { url, ...fields }: WantedWebhook,
): Promise<InstanceWebhook> {
  if (url !== null) return put(ctx, transaction, instance, { ...fields, url })
  return { webhook: notStored(instance, fields, ctx.clock()), headers: { ...fields.headers }, secret: null }
}

/** Validates a webhook. Returns its URL; null if it is switched off and has no callable URL. Throws invalid_field. */
export async function checkInstanceWebhook(
  ctx: Pick<Context, 'endpoints'>,
  { enabled, events, headers, url }: InstanceWebhookFields,
): Promise<string | null> {
  readGatewayEvents(events)
  checkHeaders(headers)
  if (url === null) return null
  if (!enabled) return (await ctx.endpoints.check(url)) === null ? url : null
  await requireCallable(ctx, url)
  return url
}

/**
 * The webhook that an earlier attempt created under this id; null if it created none or the instance had one before.
 */
export async function recoverInstanceWebhook(
  ctx: WebhookContext & Pick<Context, 'clock'>,
  organizationId: string,
  instance: Instance,
  id: string,
): Promise<InstanceWebhook | null> {
  const webhook = await findRow(ctx.database, organizationId, instance.id)
  if (webhook?.id !== id) return null
  const [secret = null] = decryptWebhookSecrets(ctx.secrets, webhook, ctx.clock())
  return { webhook, headers: decryptWebhookHeaders(ctx.secrets, webhook), secret }
}

/** The webhook of an instance; null if it has none. */
export async function findInstanceWebhook(
  ctx: WebhookContext,
  organizationId: string,
  { id }: Pick<Instance, 'id'>,
): Promise<InstanceWebhook | null> {
  const webhook = await findRow(ctx.database, organizationId, id)
  return webhook && { webhook, headers: decryptWebhookHeaders(ctx.secrets, webhook), secret: null }
}

async function put(
  { secrets }: Pick<Context, 'secrets'>,
  transaction: Queryable,
  { organization_id: organizationId, id: instanceId }: Instance,
  { id, url, events, enabled, byEvents, base64, headers }: WantedWebhook & { url: string },
): Promise<InstanceWebhook> {
  const secret = newWebhookSecret()
  const webhook = await putInstanceWebhook(transaction, organizationId, instanceId, {
    id,
    url,
    events: readGatewayEvents(events),
    secret: encryptWebhookSecret(secrets, organizationId, secret),
    active: enabled,
    by_events: byEvents,
    with_base64: base64,
    headers: encryptWebhookHeaders(secrets, organizationId, headers),
  })
  return { webhook, headers: { ...headers }, secret: webhook.id === id ? secret : null }
}

async function switchOff(
  ctx: WebhookContext & Pick<Context, 'notifications' | 'clock'>,
  instance: Instance,
  fields: WantedWebhook,
): Promise<InstanceWebhook> {
  const { organization_id: organizationId } = instance
  const webhook = await switchOffInstanceWebhook(ctx.database, organizationId, instance.id)
  if (webhook === null) {
    return { webhook: notStored(instance, fields, ctx.clock()), headers: { ...fields.headers }, secret: null }
  }
  ctx.notifications.send({ topic: 'webhooks', organizationId })
  return { webhook, headers: decryptWebhookHeaders(ctx.secrets, webhook), secret: null }
}

/** A webhook that was switched off without a URL is not stored. */
function notStored(
  { id: instanceId }: Instance,
  { id, events, byEvents, base64 }: Omit<WantedWebhook, 'url'>,
  now: Date,
): ShownInstanceWebhook {
  return {
    ...{ id, url: '', events: readGatewayEvents(events), active: false, by_events: byEvents, with_base64: base64 },
    ...{ instance_id: instanceId, created_at: now, updated_at: now },
  }
}

async function refusingDeleted<Result>({ name }: Instance, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isForeignKeyViolation(error)) throw instanceNotFound(name)
    throw error
  }
}
