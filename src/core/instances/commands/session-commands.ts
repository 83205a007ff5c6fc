import type { Device, DeviceAnswer, DeviceCommand } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { startCountdown, withTimeout } from '../../../lib/async/timeout.js'
import { newId } from '../../../lib/bytes/id.js'
import type { InstanceKey } from '../../../model/instances/instance.js'
import { cancelCommand, insertCommand } from '../../../storage/instances/commands.js'
import { hasLinkedLibrary, LIBRARY_MISSING } from '../library/linked-library.js'
import { CommandAnswers } from './command-answers.js'
import type { RunningDevices } from './command-loop.js'
import { decryptFromProcess, encryptForProcess } from './encrypted-command.js'

export type SessionCommandContext = Pick<
  Context,
  'database' | 'processId' | 'notifications' | 'secrets' | 'log' | 'linkedLibrary'
>

/** Extra time for a device or the database to report the outcome of a command. */
const ANSWER_MARGIN_MS = 2_000
const UNANSWERED: DeviceAnswer = { outcome: 'unknown', text: 'the process that runs this instance has not answered' }

/**
 * Creates the function that returns the device of an instance in any process. For a device of another process, the
 * command is a row that the other process marks as begun and answers. A command that was not begun in time was not run
 * (`not_open`); one that was begun and not answered has an unknown outcome (`unknown`). Also waits until a process
 * claims an instance that has just been wanted.
 */
export function createSessionCommands(
  ctx: SessionCommandContext,
  sessions: Pick<RunningDevices, 'find'>,
): (instance: InstanceKey) => Device {
  const answers = new CommandAnswers(ctx)

  async function askOtherProcess(
    instance: InstanceKey,
    command: DeviceCommand,
    timeoutMs: number,
  ): Promise<DeviceAnswer> {
    const leftMs = startCountdown(timeoutMs)
    const refusal = await cannotRun()
    if (refusal) return refusal
    const { organization_id: organizationId } = instance
    const id = newId()
    return (
      (await ask(instance, id, command, leftMs())) ??
      (await answers.wait(organizationId, id, leftMs())) ??
      cancel(organizationId, id)
    )
  }

  async function cannotRun(): Promise<DeviceAnswer | null> {
    try {
      return (await hasLinkedLibrary(ctx)) ? null : { outcome: 'unsupported', text: LIBRARY_MISSING }
    } catch (error) {
      ctx.log.warn({ err: error }, 'a linked device could not be asked')
      return { outcome: 'not_open', text: 'the instance could not be reached' }
    }
  }

  /** Null if the command was stored. */
  async function ask(
    { organization_id: organizationId, id: instanceId }: InstanceKey,
    id: string,
    command: DeviceCommand,
    timeoutMs: number,
  ): Promise<DeviceAnswer | null> {
    try {
      const connects = command.verb === 'connect' || command.verb === 'restart'
      const encrypted = encryptForProcess(ctx.secrets, organizationId, command)
      const asked = { id, instanceId, command: encrypted, connects, timeoutMs }
      const inserted = await insertCommand(ctx.database, organizationId, asked)
      if (inserted === null) return { outcome: 'not_open', text: 'the instance is not connected' }
      if (!inserted.held) ctx.notifications.send({ topic: 'instances' })
      ctx.notifications.send({ topic: 'commands', organizationIds: [organizationId] })
      return null
    } catch (error) {
      // The row may have been committed all the same.
      ctx.log.warn({ err: error, instanceId }, 'a linked device could not be asked')
      return cancel(organizationId, id)
    }
  }

  async function cancel(organizationId: string, id: string): Promise<DeviceAnswer> {
    try {
      const ended = await cancelCommand(ctx.database, organizationId, id)
      if (ended?.answer) return decryptFromProcess<DeviceAnswer>(ctx.secrets, organizationId, ended.answer)
      if (ended && !ended.begun) return { outcome: 'not_open', text: 'no process runs this instance at the moment' }
    } catch (error) {
      ctx.log.warn({ err: error }, 'a command to a linked device could not be cancelled')
    }
    return UNANSWERED
  }

  return (instance) => async (command, timeoutMs) => {
    const device = sessions.find(instance.organization_id, instance.id)
    const asked = device ? device(command, timeoutMs) : askOtherProcess(instance, command, timeoutMs)
    // Bounds the wait even if a device or the database hangs.
    return (await withTimeout(asked, timeoutMs + ANSWER_MARGIN_MS)) ?? UNANSWERED
  }
}
