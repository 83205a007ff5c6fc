import type { Logger } from 'pino'
import { createRetryQueue, type PendingWrite, type RetryQueue } from '../../../channels/linked-device/retry-queue.js'
import { sleep } from '../../../lib/async/backoff.js'
import type { HeldInstance } from '../../../storage/instances/leases.js'

/** What linked devices have received that could not be recorded while they were connected here. */
export interface Backlog {
  /** Tries until it is recorded; of one instance in order. */
  keep(instance: Pick<HeldInstance, 'organization_id' | 'id'>, delivery: PendingWrite): void
  /** Tries once more and no more: the process ends. What is lost with it is logged. */
  close(): Promise<void>
}

/** The network has been told that these messages have come: they are tried as long as the process lives, whoever has the instance. */
export function createBacklog(log: Logger): Backlog {
  const outlets = new Map<string, RetryQueue>()
  let isClosed = false

  function open({ organization_id: organizationId, id: instanceId }: Parameters<Backlog['keep']>[0]): RetryQueue {
    const retryQueue = createRetryQueue({
      sleep,
      random: Math.random,
      onFailure: (error) =>
        log.warn({ err: error, organizationId, instanceId }, 'messages of a linked device could not be recorded yet'),
      onAbandoned: ({ messageIds }) => {
        for (const messageId of messageIds) {
          log.error({ organizationId, instanceId, messageId }, 'a message of a linked device is lost')
        }
      },
    })
    outlets.set(instanceId, retryQueue)
    return retryQueue
  }

  return {
    keep: (instance, delivery) => {
      const retryQueue = outlets.get(instance.id) ?? open(instance)
      retryQueue.push(delivery)
      if (isClosed) void retryQueue.close()
    },
    close: async () => {
      isClosed = true
      await Promise.all(Array.from(outlets.values(), (retryQueue) => retryQueue.close()))
    },
  }
}
