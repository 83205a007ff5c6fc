import type { Logger } from 'pino'
import { type Delivery, type Outlet, openOutlet } from '../../../channels/linked-device/outlet.js'
import { sleep } from '../../../lib/async/backoff.js'
import type { HeldInstance } from '../../../storage/instances/leases.js'

/** What linked devices have received that could not be recorded while they were connected here. */
export interface Backlog {
  /** Tries until it is recorded; of one instance in order. */
  keep(instance: Pick<HeldInstance, 'organization_id' | 'id'>, delivery: Delivery): void
  /** Tries once more and no more: the process ends. What is lost with it is logged. */
  close(): Promise<void>
}

/** The network has been told that these messages have come: they are tried as long as the process lives, whoever has the instance. */
export function createBacklog(log: Logger): Backlog {
  const outlets = new Map<string, Outlet>()
  let isClosed = false

  function open({ organization_id: organizationId, id: instanceId }: Parameters<Backlog['keep']>[0]): Outlet {
    const outlet = openOutlet({
      sleep,
      random: Math.random,
      onFailure: (error) =>
        log.warn({ err: error, organizationId, instanceId }, 'messages of a linked device could not be recorded yet'),
      onLeft: ({ messageIds }) => {
        for (const messageId of messageIds) {
          log.error({ organizationId, instanceId, messageId }, 'a message of a linked device is lost')
        }
      },
    })
    outlets.set(instanceId, outlet)
    return outlet
  }

  return {
    keep: (instance, delivery) => {
      const outlet = outlets.get(instance.id) ?? open(instance)
      outlet.push(delivery)
      if (isClosed) void outlet.close()
    },
    close: async () => {
      isClosed = true
      await Promise.all(Array.from(outlets.values(), (outlet) => outlet.close()))
    },
  }
}
