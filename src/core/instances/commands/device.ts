import { businessDevice } from '../../../channels/business-device.js'
import type { Device, DeviceAnswer, DeviceCommand } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem, type ProblemExtras } from '../../../model/problem.js'
import { openInstanceNumber } from '../../organizations/instance-number.js'

/** Maximum wait for the answer to a command. */
const TIMEOUT_MS = 20_000
/** Wait before a repetition if the upstream does not name one. */
const DEFAULT_WAIT_MS = 1_000

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
 * Runs a command and returns its value. Throws like `toValue`, and invalid_provider.
 */
export async function command(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  asked: DeviceCommand,
): Promise<unknown> {
  return toValue(await openDevice(ctx, tenant, instance)(asked, TIMEOUT_MS))
}

/**
 * The value of an answer. Throws not_supported, instance_not_open, upstream_rejected, outcome_unknown; of a business
 * number also upstream_credentials, too_many_requests, upstream_unavailable.
 */
export function toValue(answer: DeviceAnswer): unknown {
  if (answer.outcome === 'done') return answer.value
  throw explainFailure(answer)
}

/** The problem of a command that was not done. */
export function explainFailure(answer: Exclude<DeviceAnswer, { outcome: 'done' }>): Problem {
  switch (answer.outcome) {
    case 'unsupported':
      return new Problem('not_supported', answer.text)
    case 'not_open':
      return new Problem('instance_not_open', 'Connection Closed', { details: answer.text })
    case 'refused':
      return explainRefusal(answer)
    case 'unknown':
      return new Problem('outcome_unknown', `It is not known whether it was done: ${answer.text}`, { retryable: false })
    case 'failed':
      return explainLater(answer)
  }
}

function explainRefusal(refusal: Extract<DeviceAnswer, { outcome: 'refused' }>): Problem {
  const { code, text } = refusal
  const named: ProblemExtras = code === null ? {} : { upstream_code: code }
  if ('because' in refusal && refusal.because === 'credentials') {
    return new Problem('upstream_credentials', 'The upstream refused the access token: set a valid one', {
      details: text,
      ...named,
    })
  }
  return new Problem('upstream_rejected', text, named)
}

function explainLater({
  isLimited,
  text: details,
  retryAfterMs,
}: Extract<DeviceAnswer, { outcome: 'failed' }>): Problem {
  if (!isLimited) {
    return new Problem('upstream_unavailable', 'WhatsApp did not carry it out: try again later', {
      details,
      retryable: true,
    })
  }
  const seconds = Math.max(1, Math.ceil((retryAfterMs ?? DEFAULT_WAIT_MS) / 1_000))
  return new Problem('too_many_requests', `WhatsApp's rate limit is reached: try again in ${seconds} s`, {
    details,
    retry_after: seconds,
  })
}

/** The simulated phones. Throws not_supported if no simulator is in use. */
export function requireSandboxes(ctx: Pick<Context, 'sandboxes'>): NonNullable<Context['sandboxes']> {
  if (ctx.sandboxes !== null) return ctx.sandboxes
  throw new Problem(
    'not_supported',
    'SANDBOX instances are phones of the simulator, and this service uses none: start it with PARLEY_UPSTREAM_URL=sandbox',
  )
}
