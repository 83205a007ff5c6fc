import type { Context, OperatorContext } from '../../context.js'
import { isForeignKeyViolation } from '../../database/errors.js'
import { newWebhookSecret } from '../../lib/crypto/standard-webhooks.js'
import { Problem } from '../../model/problem.js'
import { sentence } from '../../model/sentence.js'
import { readKinds, type Webhook } from '../../model/webhooks/webhook.js'
import {
  deleteWebhook as deleteWebhookRow,
  enableWebhook as enableWebhookRow,
  findWebhook,
  insertWebhook,
  listWebhooks as listWebhookRows,
  rotateWebhookSecret as rotateWebhookRow,
} from '../../storage/webhooks/webhooks.js'
import { decryptWebhookSecrets, encryptWebhookSecret } from './secrets.js'

/** The fields of a webhook; see SetWebhook in model/webhooks/webhook. */
export interface WebhookFields {
  url: string
  events: readonly string[]
  description?: string | null | undefined
}

/** A webhook with its plain secret, to be shown once. */
export interface IssuedWebhook {
  webhook: Webhook
  /** `whsec_…` */
  secret: string
}

const MAX_WEBHOOKS = 200
/** How long the old secret signs together with the new one. */
const OVERLAP_MS = 24 * 3_600_000

/**
 * Registers an endpoint under the given id, for events from now on. Throws invalid_field (bad URL or kinds),
 * too_many_webhooks, organization_not_found.
 */
export async function setWebhook(
  ctx: Pick<Context, 'database' | 'secrets' | 'endpoints' | 'notifications'>,
  organizationId: string,
  { url, events, description = null }: WebhookFields,
  id: string,
): Promise<IssuedWebhook> {
  const kinds = readKinds(events, 'events', 'invalid_field')
  await requireCallable(ctx, url)
  const secret = newWebhookSecret()
  const encrypted = encryptWebhookSecret(ctx.secrets, organizationId, secret)
  const row = { id, url, events: kinds, description, secret: encrypted }
  const webhook = await refusingDeleted(() =>
    ctx.database.transaction((transaction) => insertWebhook(transaction, organizationId, row, MAX_WEBHOOKS)),
  )
  if (webhook === null) {
    throw new Problem(
      'too_many_webhooks',
      `The organization has ${MAX_WEBHOOKS} webhooks, the maximum: delete one that is not needed`,
    )
  }
  ctx.notifications.send({ topic: 'webhooks', organizationId })
  return { webhook, secret }
}

/** Refuses a URL that cannot be posted to. Throws invalid_field. */
export async function requireCallable({ endpoints }: Pick<Context, 'endpoints'>, url: string): Promise<void> {
  const obstacle = await endpoints.check(url)
  if (obstacle === null) return
  throw new Problem('invalid_field', sentence('not_callable', { field: 'url', why: obstacle }))
}

/** The webhook with its secret that an earlier attempt stored under this id; null if it stored none. */
export async function recoverWebhook(
  ctx: OperatorContext & Pick<Context, 'secrets'>,
  organizationId: string,
  id: string,
): Promise<IssuedWebhook | null> {
  const webhook = await findWebhook(ctx.database, organizationId, id)
  if (webhook === null) return null
  const [secret = ''] = decryptWebhookSecrets(ctx.secrets, webhook, ctx.clock())
  return { webhook, secret }
}

/** The organization's webhooks, oldest first; without those of its instances. */
export function listWebhooks(ctx: Pick<Context, 'database'>, organizationId: string): Promise<Webhook[]> {
  return listWebhookRows(ctx.database, organizationId)
}

/** Deletes a webhook; a job deletes its deliveries. Throws webhook_not_found. */
export async function deleteWebhook(
  ctx: Pick<Context, 'database' | 'notifications'>,
  organizationId: string,
  id: string,
): Promise<void> {
  const deleted = await ctx.database.transaction((transaction) => deleteWebhookRow(transaction, organizationId, id))
  if (!deleted) throw webhookNotFound(id)
  ctx.notifications.send({ topic: 'webhooks', organizationId })
}

/** Gives a webhook a new secret; the old one signs too for 24 hours. Throws webhook_not_found. */
export async function rotateWebhookSecret(
  ctx: OperatorContext & Pick<Context, 'secrets' | 'notifications'>,
  organizationId: string,
  id: string,
): Promise<IssuedWebhook> {
  const secret = newWebhookSecret()
  const encrypted = encryptWebhookSecret(ctx.secrets, organizationId, secret)
  const until = new Date(ctx.clock().getTime() + OVERLAP_MS)
  const webhook = await rotateWebhookRow(ctx.database, organizationId, id, { secret: encrypted, until })
  if (webhook === null) throw webhookNotFound(id)
  ctx.notifications.send({ topic: 'webhooks', organizationId })
  return { webhook, secret }
}

/**
 * Enables a disabled webhook: its pending deliveries and events from now on are delivered. Does nothing if it is
 * active. Throws webhook_not_found.
 */
export async function enableWebhook(
  ctx: Pick<Context, 'database' | 'notifications'>,
  organizationId: string,
  id: string,
): Promise<Webhook> {
  const webhook = await ctx.database.transaction((transaction) => enableWebhookRow(transaction, organizationId, id))
  if (webhook === null) throw webhookNotFound(id)
  ctx.notifications.send({ topic: 'webhooks', organizationId })
  return webhook
}

/** One of the organization's webhooks, or of its instances. Throws webhook_not_found. */
export async function requireWebhook(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  id: string,
): Promise<Webhook> {
  const webhook = await findWebhook(ctx.database, organizationId, id)
  if (webhook === null) throw webhookNotFound(id)
  return webhook
}

/** Like requireWebhook; also throws webhook_disabled. */
export async function requireActiveWebhook(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  id: string,
): Promise<Webhook> {
  const webhook = await requireWebhook(ctx, organizationId, id)
  if (webhook.active) return webhook
  const reason = webhook.disabled_reason ?? 'it was disabled'
  const path = webhook.instance_id === null ? `/set-webhooks/${id}/enable` : '/gateway/webhook/set/{instance}'
  throw new Problem('webhook_disabled', `The webhook ${id} is disabled (${reason}): enable it first, by POST ${path}`)
}

export function webhookNotFound(id: string): Problem {
  return new Problem('webhook_not_found', `There is no webhook with the id ${id} in this organization`)
}

async function refusingDeleted<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw new Problem('organization_not_found', 'The organization has just been deleted')
  }
}
