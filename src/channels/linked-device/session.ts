import { sleep } from '../../lib/async/backoff.js'
import { errorMessage } from '../../lib/text/error-message.js'
import type { DeviceAnswer, DeviceCommand } from '../device.js'
import { runCommand } from './commands.js'
import { createCondition } from './connection/condition.js'
import { ConnectionSupervisor } from './connection/connection-supervisor.js'
import { createEventWriter } from './event-writer.js'
import type { LinkedLibrary } from './library.js'
import { logOut, restart, showLink } from './link-commands.js'
import type { DeviceSessionOptions, SessionSettings } from './session-options.js'

/** A linked device that this process keeps connected. */
export interface DeviceSession {
  /** Runs a command, waiting at most `timeoutMs`. Never throws. */
  run(command: DeviceCommand, timeoutMs: number): Promise<DeviceAnswer>
  /** True while it is connected or tries to be. */
  isRunning(): boolean
  /**
   * Hangs up without logging out; running commands end. Incoming messages are recorded or handed to onUnrecorded. The
   * recorded state does not change.
   */
  stop(): Promise<void>
}

const NOT_OPEN: DeviceAnswer = { outcome: 'not_open', text: 'Connection Closed' }

/**
 * Connects the device and reconnects it until the network ends the session (unlinked, replaced, banned), its codes are
 * not scanned, or it is stopped. Without a stored session it shows codes to scan.
 */
export function startDeviceSession(library: LinkedLibrary, options: DeviceSessionOptions): DeviceSession {
  const settings: SessionSettings = { sleep, random: Math.random, ...options }
  const condition = createCondition(settings.sleep)
  const eventWriter = createEventWriter(settings, () => supervisor.disconnectUntilDrained())
  const supervisor = new ConnectionSupervisor(library, settings, eventWriter, condition)
  const context = { supervisor, eventWriter, condition }
  const confirmed = new Map<string, string>()
  let isStopped = false

  async function perform(command: DeviceCommand, timeoutMs: number): Promise<DeviceAnswer> {
    switch (command.verb) {
      case 'connect':
        return showLink(context, command.number, timeoutMs)
      case 'restart':
        return restart(context, timeoutMs)
      case 'logout':
        return logOut(context, timeoutMs)
      default: {
        const link = supervisor.current()
        if (!link?.isOpen) return NOT_OPEN
        const { connection } = link
        const { openFile } = options
        return runCommand(
          { library, connection, openFile, confirmed, condition, isOver: () => isStopped },
          command,
          timeoutMs,
        )
      }
    }
  }

  supervisor.start()
  return {
    run: async (command, timeoutMs) => {
      if (isStopped) return NOT_OPEN
      try {
        return await perform(command, timeoutMs)
      } catch (error) {
        return { outcome: 'unknown', text: errorMessage(error) }
      }
    },
    isRunning: () => supervisor.isRunning(),
    stop: async () => {
      isStopped = true
      const stopped = supervisor.stop()
      condition.notify()
      // The supervisor may be waiting for a write that keeps failing; closing limits it to one more attempt.
      await eventWriter.close()
      await stopped
      // Writes events of the last connection.
      await eventWriter.close()
    },
  }
}
