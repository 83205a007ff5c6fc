import type { Context } from '../../../context.js'
import type { InstanceWebhookFields } from '../../../model/instances/gateway-webhook.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { findInstanceById } from '../../../storage/instances/instances.js'
import { type CreatedInstance, createInstance } from './create.js'
import type { InstanceFields } from './credentials.js'
import { decryptToken } from './list.js'
import {
  checkInstanceWebhook,
  type InstanceWebhook,
  insertInstanceWebhook,
  recoverInstanceWebhook,
  setInstanceWebhook,
} from './webhook.js'

export type InstanceWithWebhook = CreatedInstance & { webhook: InstanceWebhook | null }

export type InstanceWithWebhookFields = InstanceFields & { webhook: InstanceWebhookFields | null }

/**
 * Creates an instance and its webhook under the given id, both or none; both are validated first. Throws like
 * createInstance and setInstanceWebhook.
 */
export async function createInstanceWithWebhook(
  ctx: Context,
  tenant: Tenant,
  { webhook, ...fields }: InstanceWithWebhookFields,
  id: string,
): Promise<InstanceWithWebhook> {
  const wanted = { ...fields, id }
  if (webhook === null) return createInstance(ctx, tenant, wanted, async (_, made) => ({ ...made, webhook: null }))
  const checked = { ...webhook, url: await checkInstanceWebhook(ctx, webhook), id }
  const created = await createInstance(ctx, tenant, wanted, async (transaction, made) => ({
    ...made,
    webhook: await insertInstanceWebhook(ctx, transaction, made.instance, checked),
  }))
  ctx.notifications.send({ topic: 'webhooks', organizationId: tenant.id })
  return created
}

/**
 * The instance that an earlier attempt created under this id; null if it created none. A missing webhook (left by older
 * versions) is created.
 */
export async function recoverInstanceWithWebhook(
  ctx: Context,
  tenant: Tenant,
  { webhook }: InstanceWithWebhookFields,
  id: string,
): Promise<InstanceWithWebhook | null> {
  const instance = await findInstanceById(ctx.database, tenant.id, id)
  if (instance === null) return null
  const created = { instance, token: decryptToken(ctx, instance) }
  if (webhook === null) return { ...created, webhook: null }
  const set = await recoverInstanceWebhook(ctx, tenant.id, instance, id)
  return { ...created, webhook: set ?? (await setInstanceWebhook(ctx, instance, { ...webhook, id })) }
}
