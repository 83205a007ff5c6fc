import { businessDevice } from '../../../channels/business-device.js'
import type { Device, DeviceAnswer, DeviceCommand } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { openInstanceNumber } from '../../organizations/instance-number.js'

/** Maximum wait for the answer to a command. */
const TIMEOUT_MS = 20_000

/** The device of an instance of any kind, in any process. Throws not_supported, invalid_provider. */
export function openDevice(ctx: Context, tenant: Tenant, instance: Instance): Device {
  switch (instance.kind) {
    case 'sandbox':
      return requireSandboxes(ctx).device({ organizationId: tenant.id, name: instance.name })
    case 'business_api':
      return businessDevice(ctx.upstream, openInstanceNumber(ctx, tenant, instance))
    case 'linked_device':
      return ctx.devices(instance)
  }
}

/**
 * Runs a command and returns its value. Throws not_supported, instance_not_open, upstream_rejected, outcome_unknown.
 */
export async function command(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  asked: DeviceCommand,
): Promise<unknown> {
  return toValue(await openDevice(ctx, tenant, instance)(asked, TIMEOUT_MS))
}

/** The value of an answer; throws a Problem unless the command was done. */
export function toValue(answer: DeviceAnswer): unknown {
  switch (answer.outcome) {
    case 'done':
      return answer.value
    case 'unsupported':
      throw new Problem('not_supported', answer.text)
    case 'not_open':
      throw new Problem('instance_not_open', 'Connection Closed', { details: answer.text })
    case 'refused':
      throw new Problem('upstream_rejected', answer.text, answer.code === null ? {} : { upstream_code: answer.code })
    case 'unknown':
      throw new Problem('outcome_unknown', `It is not known whether it was done: ${answer.text}`, { retryable: false })
  }
}

/** The simulated phones. Throws not_supported if no simulator is in use. */
export function requireSandboxes(ctx: Pick<Context, 'sandboxes'>): NonNullable<Context['sandboxes']> {
  if (ctx.sandboxes !== null) return ctx.sandboxes
  throw new Problem(
    'not_supported',
    'SANDBOX instances are phones of the simulator, and this service uses none: start it with PARLEY_UPSTREAM_URL=sandbox',
  )
}
