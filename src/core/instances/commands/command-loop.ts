import type { Device, DeviceAnswer, DeviceCommand } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { startLoop } from '../../../lib/async/loop.js'
import type { Notification } from '../../../model/notification.js'
import { answerCommand, type BegunCommand, beginCommands } from '../../../storage/instances/commands.js'
import type { LeasedInstance } from '../../../storage/instances/leases.js'
import { decryptFromProcess, encryptForProcess } from './encrypted-command.js'

/** Runs the commands of other processes for the devices of this one. */
export interface CommandLoop {
  /** Reads commands now. */
  wake(): void
  /** Starts no more commands; resolves when the running ones are answered. */
  stop(): Promise<void>
}

export interface RunningDevices {
  find(organizationId: string, instanceId: string): Device | undefined
  running(): Pick<LeasedInstance, 'organization_id' | 'id'>[]
}

/** How soon a command is found if its notification was lost. */
const POLL_MS = 1_000
const MAX_BEGUN = 100

/**
 * Starts the loop. Each command is marked as begun before it is run, so that the caller can distinguish a command that
 * was not run from one with an unknown outcome.
 */
export function startCommandLoop(
  ctx: Pick<Context, 'database' | 'processId' | 'notifications' | 'secrets' | 'log'>,
  { find, running }: RunningDevices,
): CommandLoop {
  const underWay = new Set<Promise<void>>()

  async function round(): Promise<boolean> {
    const instances = running()
    if (instances.length === 0) return false
    const begun = await beginCommands(ctx.database, instances, ctx.processId, MAX_BEGUN)
    for (const command of begun) {
      const done = perform(command).finally(() => underWay.delete(done))
      underWay.add(done)
    }
    return begun.length === MAX_BEGUN
  }

  async function perform({ organization_id, id, instance_id, command, left_ms }: BegunCommand): Promise<void> {
    try {
      const device = find(organization_id, instance_id)
      const answer: DeviceAnswer = device
        ? await device(decryptFromProcess<DeviceCommand>(ctx.secrets, organization_id, command), left_ms)
        : { outcome: 'not_open', text: 'the instance is on its way to another process' }
      await answerCommand(ctx.database, organization_id, id, encryptForProcess(ctx.secrets, organization_id, answer))
      ctx.notifications.send({ topic: 'commands', organizationIds: [organization_id] })
    } catch (error) {
      ctx.log.warn({ err: error, instanceId: instance_id }, 'the answer of a linked device could not be passed on')
    }
  }

  const loop = startLoop({
    round,
    pauseMs: () => POLL_MS,
    onFailure: (error) => ctx.log.warn({ err: error }, 'commands to linked devices could not be read; trying again'),
  })
  const stopListening = ctx.notifications.listen((notification) => {
    if (isConcerned(notification, running)) loop.wake()
  })
  return {
    wake: loop.wake,
    stop: async () => {
      stopListening()
      await loop.stop()
      await Promise.all(underWay)
    },
  }
}

function isConcerned(notification: Notification, running: RunningDevices['running']): boolean {
  if (notification.topic !== 'commands') return notification.topic === 'missed'
  const { organizationIds } = notification
  return organizationIds === null || running().some(({ organization_id }) => organizationIds.includes(organization_id))
}
