import type { Logger } from 'pino'
import { createRetryQueue, type PendingWrite, type RetryQueue } from '../../../channels/linked-device/retry-queue.js'
import { sleep } from '../../../lib/async/backoff.js'
import type { LeasedInstance } from '../../../storage/instances/leases.js'

/** Retries messages of linked devices that could not be recorded while they were connected here. */
export interface UnrecordedMessages {
  /** Retries until the write succeeds; writes of one instance stay in order. */
  add(instance: Pick<LeasedInstance, 'organization_id' | 'id'>, write: PendingWrite): void
  /** Tries once more at shutdown; lost messages are logged. */
  close(): Promise<void>
}

/**
 * The network does not send these messages again, so they are retried for the life of the process, even if another
 * process runs the instance.
 */
export function createUnrecordedMessages(log: Logger): UnrecordedMessages {
  const queues = new Map<string, RetryQueue>()
  let isClosed = false

  function open({
    organization_id: organizationId,
    id: instanceId,
  }: Parameters<UnrecordedMessages['add']>[0]): RetryQueue {
    const queue = createRetryQueue({
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
    queues.set(instanceId, queue)
    return queue
  }

  return {
    add: (instance, write) => {
      const queue = queues.get(instance.id) ?? open(instance)
      queue.push(write)
      if (isClosed) void queue.close()
    },
    close: async () => {
      isClosed = true
      await Promise.all(Array.from(queues.values(), (queue) => queue.close()))
    },
  }
}
