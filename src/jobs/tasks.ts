import type { Task } from 'graphile-worker'
import type { Context } from '../context.js'
import { eraseTraces, prune, settleOutcomes } from '../core/maintenance.js'
import { createCallbackProcessor } from '../core/messages/receive.js'
import { sweepDeletedOrganization } from '../core/organizations.js'

/** The names under which jobs are inserted; `migrate` makes them known to the queue. */
export const TASK_NAMES = [
  'receive_callback',
  'erase_traces',
  'sweep_organization',
  'settle_outcomes',
  'prune',
] as const

/** When recurring tasks run. */
export const CRONTAB = ['* * * * * settle_outcomes', '17 3 * * * prune'].join('\n')

/** What each task does. The payload of a tenant's job names its organization. */
export function createTasks(ctx: Context): Record<(typeof TASK_NAMES)[number], Task> {
  const callbacks = createCallbackProcessor(ctx)
  return {
    receive_callback: (payload: unknown) => {
      const { organizationId, callbackId } = payload as { organizationId: string; callbackId: string }
      return callbacks.process(organizationId, callbackId)
    },
    erase_traces: (payload: unknown) => {
      const { organizationId, contactId, addresses } = payload as {
        organizationId: string
        contactId: string
        addresses: string[]
      }
      return eraseTraces(ctx, organizationId, contactId, addresses)
    },
    sweep_organization: (payload: unknown) => {
      const { organizationId } = payload as { organizationId: string }
      return sweepDeletedOrganization(ctx, organizationId)
    },
    settle_outcomes: () => settleOutcomes(ctx),
    prune: () => prune(ctx),
  }
}
