import type { PairingCode } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { newId } from '../../../lib/bytes/id.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import {
  deleteInstance as deleteInstanceRow,
  logOutInstance,
  setInstanceWanted,
} from '../../../storage/instances/instances.js'
import { deleteInstanceWebhook } from '../../../storage/instances/webhooks.js'
import { directoryHash } from '../../../storage/organizations/directory.js'
import { command, openDevice } from '../sessions/device.js'
import { recordCode } from './connection-state.js'

/** How long a code is waited for: the process that is to run the device may have to take it first. */
const CODE_TIMEOUT_MS = 15_000
/** How long a deletion waits for the network to hear of it. */
const LOGOUT_TIMEOUT_MS = 5_000

/**
 * Has an instance show a code to be scanned, or with `number` one to be typed; null when it is open. Throws not_supported,
 * instance_not_open where nobody could show one in time.
 */
export async function connectInstance(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  number: string | null,
): Promise<PairingCode | null> {
  if (instance.state === 'open') return null
  return requestCode(ctx, tenant, instance, { verb: 'connect', number })
}

/** Connects anew; a code where one has to be scanned. Throws like connectInstance. */
export function restartInstance(ctx: Context, tenant: Tenant, instance: Instance): Promise<PairingCode | null> {
  return requestCode(ctx, tenant, instance, { verb: 'restart' })
}

async function requestCode(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  asked: { verb: 'connect'; number: string | null } | { verb: 'restart' },
): Promise<PairingCode | null> {
  const { id, kind } = instance
  if (kind === 'linked_device') {
    await setInstanceWanted(ctx.database, tenant.id, id, true)
    ctx.notifications.send({ topic: 'instances' })
  }
  const code = (await command(ctx, tenant, instance, asked, CODE_TIMEOUT_MS)) as PairingCode | null
  // A linked device keeps its codes itself, as the network gives it one after the other.
  if (code !== null && kind === 'sandbox') await recordCode(ctx, tenant.id, id, code)
  return code
}

/** Ends the session for good; a code has to be scanned again. Throws instance_closed, not_supported for a business number. */
export async function logoutInstance(ctx: Context, tenant: Tenant, instance: Instance): Promise<void> {
  if (instance.state === 'close') {
    throw new Problem('instance_closed', `The "${instance.name}" instance is not connected`)
  }
  await command(ctx, tenant, instance, { verb: 'logout' })
  await forgetSession(ctx, instance)
}

/** Deletes an instance, its session and its webhook; its messages stay. Whether the network can be told does not matter. */
export async function deleteInstance(ctx: Context, tenant: Tenant, instance: Instance): Promise<void> {
  await logOutDevice(ctx, tenant, instance)
  const { id, phone_number_id: number, token } = instance
  const hashes = {
    tokenHash: directoryHash(ctx.secrets.open(token, `${tenant.id}:instance.token`)),
    numberHash: number === null || number === tenant.upstream?.phone_number_id ? null : directoryHash(number),
  }
  await ctx.database.transaction(async (transaction) => {
    await deleteInstanceWebhook(transaction, tenant.id, id)
    await deleteInstanceRow(transaction, tenant.id, id, hashes)
  })
  // A job deletes what was for the webhook.
  ctx.wakeWorkers()
  notify(ctx, tenant.id)
  await forgetSandbox(ctx, instance)
}

/** What cannot be told any more, as where a phone's simulator is gone, is no reason to keep the instance. */
async function logOutDevice(ctx: Context, tenant: Tenant, instance: Instance): Promise<void> {
  const isThere = instance.kind === 'linked_device' || (instance.kind === 'sandbox' && ctx.sandboxes !== null)
  if (instance.state === 'close' || !isThere) return
  await openDevice(ctx, tenant, instance)({ verb: 'logout' }, LOGOUT_TIMEOUT_MS)
}

/** A simulator that cannot be told now has no use for the phone either: nobody sends by it any more. */
async function forgetSandbox(ctx: Context, { organization_id: organizationId, name, kind }: Instance): Promise<void> {
  if (kind !== 'sandbox') return
  await ctx.sandboxes?.forget({ organizationId, name }).catch((error: unknown) => {
    ctx.log.warn({ err: error, instance: name }, 'the simulator could not be told to forget a phone')
  })
}

async function forgetSession(ctx: Context, { organization_id, id }: Instance): Promise<void> {
  await logOutInstance(ctx.database, organization_id, id, [newId(), newId()])
  notify(ctx, organization_id)
}

/** The process that runs the device, and the one that delivers to the webhook. */
function notify(ctx: Context, organizationId: string): void {
  ctx.notifications.send({ topic: 'instances' })
  ctx.notifications.send({ topic: 'webhooks', organizationId })
}
