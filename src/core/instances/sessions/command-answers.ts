import type { DeviceAnswer } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { withTimeout } from '../../../lib/async/timeout.js'
import type { Notification } from '../../../model/notification.js'
import { type TakenAnswer, takeAnswers } from '../../../storage/instances/commands.js'
import { decryptFromProcess } from './encrypted-command.js'

/** Waits for answers of other processes. */
export interface CommandAnswers {
  /** The answer to a command, which is then deleted; null if there is none within `timeoutMs`. */
  wait(organizationId: string, id: string, timeoutMs: number): Promise<DeviceAnswer | null>
}

interface Waiter {
  organizationId: string
  id: string
  take(answer: DeviceAnswer): void
}

/** How soon an answer is found if its notification was lost. */
const POLL_MS = 250

/** Reads all awaited answers with one query, on notifications and from time to time. */
export function createCommandAnswers(
  ctx: Pick<Context, 'database' | 'notifications' | 'secrets' | 'log'>,
): CommandAnswers {
  const waiting = new Map<string, Waiter>()
  let reading: Promise<void> | null = null
  let isListening = false
  let isPolling = false
  let isNotified = false
  let endNap = () => {}

  async function wait(organizationId: string, id: string, timeoutMs: number): Promise<DeviceAnswer | null> {
    if (!isListening) ctx.notifications.listen(onNotification)
    isListening = true
    let answer: DeviceAnswer | null = null
    const taken = new Promise<void>((resolve) => {
      const take = (given: DeviceAnswer) => {
        answer = given
        resolve()
      }
      waiting.set(id, { organizationId, id, take })
    })
    if (!isPolling) void poll()
    await withTimeout(taken, timeoutMs)
    // A read in progress may have taken the answer from the table.
    if (answer === null) await reading
    waiting.delete(id)
    return answer
  }

  async function poll(): Promise<void> {
    isPolling = true
    while (waiting.size > 0) {
      isNotified = false
      reading = readAnswers()
      await reading
      reading = null
      if (!isNotified) await nap()
    }
    isPolling = false
  }

  async function readAnswers(): Promise<void> {
    try {
      for (const taken of await takeAnswers(ctx.database, [...waiting.values()])) {
        waiting.get(taken.id)?.take(open(taken))
        waiting.delete(taken.id)
      }
    } catch (error) {
      ctx.log.warn({ err: error }, 'answers of linked devices could not be read; trying again')
    }
  }

  /** One unreadable answer must not lose the others, which are already deleted from the table. */
  function open({ organization_id: organizationId, id, answer }: TakenAnswer): DeviceAnswer {
    try {
      return decryptFromProcess<DeviceAnswer>(ctx.secrets, organizationId, answer)
    } catch (error) {
      ctx.log.warn({ err: error, organizationId, id }, 'the answer of a linked device could not be decrypted')
      return { outcome: 'unknown', text: 'the answer of the process that runs this instance could not be read' }
    }
  }

  function nap(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS)
      endNap = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  function onNotification(notification: Notification): void {
    if (notification.topic !== 'commands' && notification.topic !== 'missed') return
    const organizationIds = notification.topic === 'commands' ? notification.organizationIds : null
    const isConcerned = [...waiting.values()].some(
      ({ organizationId }) => organizationIds === null || organizationIds.includes(organizationId),
    )
    if (!isConcerned) return
    isNotified = true
    endNap()
  }

  return { wait }
}
