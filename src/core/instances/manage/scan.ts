import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import { Problem } from '../../../model/problem.js'
import { requireSandboxes } from '../sessions/device.js'

const TIMEOUT_MS = 10_000
/** So long after the simulator was not reached may somebody try again. */
const RETRY_SECONDS = 2

/**
 * Has the pretend owner of a SANDBOX instance's phone scan the code that it shows; `number`: as whose (digits). Nothing where it is
 * open. Throws not_supported for other kinds, instance_closed where there is no code, invalid_field, service_unavailable.
 */
export async function scanCode(
  ctx: Pick<Context, 'sandboxes'>,
  { organization_id: organizationId, name, kind, state }: Instance,
  number: string | null,
): Promise<void> {
  if (kind !== 'sandbox') {
    throw new Problem('not_supported', `"${name}" is no SANDBOX instance: its code is scanned with a phone`)
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
  return new Problem('instance_closed', `"${name}" shows no code to be scanned: connect it first`)
}
