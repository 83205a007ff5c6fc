import type { PairingCode } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { logOutInstance, setInstanceWanted } from '../../../storage/instances/instances.js'
import { deleteInstanceRows } from '../../organizations/further-numbers.js'
import { command, openDevice, toValue } from '../commands/device.js'
import { recordCode } from './connection-state.js'

/** Maximum wait for a code; the process that will run the device may have to claim it first. */
const CODE_TIMEOUT_MS = 15_000
/** Maximum wait for the logout when an instance is deleted. */
const LOGOUT_TIMEOUT_MS = 5_000

/**
 * Requests a code to scan or, with `number`, one to type; null if the instance is open. Throws not_supported, and
 * instance_not_open if no code comes in time.
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

/** Reconnects; returns a code if one has to be scanned. Throws like connectInstance. */
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
  const code = toValue(await openDevice(ctx, tenant, instance)(asked, CODE_TIMEOUT_MS)) as PairingCode | null
  // A linked device records its codes itself, as the network issues them.
  if (code !== null && kind === 'sandbox') await recordCode(ctx, instance, code)
  return code
}

/**
 * Ends the session for good; a code must be scanned to connect again. Throws instance_closed, and not_supported for a
 * business number.
 */
export async function logoutInstance(ctx: Context, tenant: Tenant, instance: Instance): Promise<void> {
  if (instance.state === 'close') {
    throw new Problem('instance_closed', `The "${instance.name}" instance is not connected`)
  }
  await command(ctx, tenant, instance, { verb: 'logout' })
  await forgetSession(ctx, instance)
}

/**
 * Deletes an instance, its session and its webhook; its messages stay. It is deleted even if the device cannot be
 * logged out.
 */
export async function deleteInstance(ctx: Context, tenant: Tenant, instance: Instance): Promise<void> {
  await logOutDevice(ctx, tenant, instance)
  await ctx.database.transaction((transaction) => deleteInstanceRows(ctx, transaction, tenant, instance))
  notify(ctx, tenant.id)
  await forgetSandbox(ctx, instance)
}

/** A failure, for example because the simulator is gone, does not stop the deletion. */
async function logOutDevice(ctx: Context, tenant: Tenant, instance: Instance): Promise<void> {
  const isThere = instance.kind === 'linked_device' || (instance.kind === 'sandbox' && ctx.sandboxes !== null)
  if (instance.state === 'close' || !isThere) return
  await openDevice(ctx, tenant, instance)({ verb: 'logout' }, LOGOUT_TIMEOUT_MS)
}

/** A failure is harmless: the phone is not used any more. */
async function forgetSandbox(ctx: Context, { organization_id: organizationId, name, kind }: Instance): Promise<void> {
  if (kind !== 'sandbox') return
  await ctx.sandboxes?.forget({ organizationId, name }).catch((error: unknown) => {
    ctx.log.warn({ err: error, instance: name }, 'a simulated phone could not be deleted from the simulator')
  })
}

async function forgetSession(ctx: Context, { organization_id, id }: Instance): Promise<void> {
  await logOutInstance(ctx.database, organization_id, id)
  notify(ctx, organization_id)
}

/** Notifies the process that runs the device and the one that delivers to the webhook. */
function notify(ctx: Context, organizationId: string): void {
  ctx.notifications.send({ topic: 'instances' })
  ctx.notifications.send({ topic: 'webhooks', organizationId })
}
