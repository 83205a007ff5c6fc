import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import { Problem } from '../../../model/problem.js'
import { requireSandboxes } from '../commands/device.js'

const TIMEOUT_MS = 10_000
/** Retry-After if the simulator was not reached. */
const RETRY_SECONDS = 2

/**
 * Has a simulated phone scan the code of a SANDBOX instance; `number` are the digits of the phone. Does nothing if it
 * is open. Throws not_supported for other kinds, instance_closed if there is no code, invalid_field,
 * service_unavailable.
 */
export async function scanCode(
  ctx: Pick<Context, 'sandboxes'>,
  { organization_id: organizationId, name, kind, state }: Instance,
  number: string | null,
): Promise<void> {
  if (kind !== 'sandbox') {
    throw new Problem('not_supported', `"${name}" is not a SANDBOX instance: scan its code with a phone`)
  }
  const sandboxes = requireSandboxes(ctx)
  if (state === 'open') return
  if (state === 'close') throw closed(name)
  const scanned = await sandboxes.scan({ organizationId, name }, number, TIMEOUT_MS)
  switch (scanned.outcome) {
    case 'done':
      return
    case 'refused':
      if (scanned.status === 404 || scanned.status === 409) throw closed(name)
      throw new Problem('invalid_field', `The simulator did not take the number: ${scanned.text}`)
    case 'not_reached':
    case 'unknown':
      throw new Problem('service_unavailable', `The simulator cannot be reached: ${scanned.text}. Try again`, {
        retry_after: RETRY_SECONDS,
      })
  }
}

function closed(name: string): Problem {
  return new Problem('instance_closed', `"${name}" shows no code to scan: connect it first`)
}
