import type { DeviceAnswer, DeviceCommand } from '../../../channels/device.js'
import type { DeviceSettings } from '../../../channels/linked-device/connection/connection.js'
import type { LinkedLibrary } from '../../../channels/linked-device/library.js'
import type { PendingWrite } from '../../../channels/linked-device/retry-queue.js'
import { startDeviceSession } from '../../../channels/linked-device/session.js'
import type { OpenedFile } from '../../../channels/linked-device/wire/to-network.js'
import type { BaseContext } from '../../../context.js'
import { withTimeout } from '../../../lib/async/timeout.js'
import { newId } from '../../../lib/bytes/id.js'
import { asText } from '../../../lib/text/json.js'
import type { InstanceState } from '../../../model/instances/instance.js'
import { insertCallbacks } from '../../../storage/callbacks/callbacks.js'
import type { LeasedInstance } from '../../../storage/instances/leases.js'
import { findMedia } from '../../../storage/messages/media.js'
import { openMedia } from '../../media/read.js'
import { findContentToResend } from '../chats/known-message.js'
import { recordCode, recordState } from '../manage/connection-state.js'
import { createDeviceStore } from './device-store.js'
import { createSignals } from './signals.js'

export interface RunningSession {
  /** The last known state. */
  state(): InstanceState
  /** Runs a command; never throws. */
  run(command: DeviceCommand, timeoutMs: number): Promise<DeviceAnswer>
  isIdle(): boolean
  /** Lets running commands end for `graceMs`, then hangs up. Nothing is recorded after it resolves. */
  close(graceMs: number): Promise<void>
}

export interface SessionListener {
  /** The network has answered: connected, failed, or a code is shown. */
  onAnswered(): void
  /** The session has ended and will not reconnect. */
  onEnd(): void
  /** Another process has taken over the instance. */
  onLost(): void
  /** Takes over messages that could not be recorded before the session was closed. */
  onUnrecorded(write: PendingWrite): void
}

/** Longer than hanging up takes. */
const HANG_UP_TIMEOUT_MS = 5_000

/**
 * Connects a linked device under this process's lease and records what happens until it is closed. `instance` returns
 * the current row.
 */
export function startRunningSession(
  ctx: BaseContext,
  instance: () => LeasedInstance,
  { library, socketUrl }: { library: LinkedLibrary; socketUrl: string | null },
  listener: SessionListener,
): RunningSession {
  const key = instance()
  const { organization_id: organizationId, id: instanceId } = key
  const log = ctx.log.child({ organizationId, instanceId })
  const commands = new Set<Promise<unknown>>()
  const store = createDeviceStore(ctx, { organizationId, instanceId, onLost: listener.onLost })
  const signals = createSignals(ctx, key)
  let state: InstanceState = 'connecting'
  let isClosed = false

  const session = startDeviceSession(library, {
    store,
    onState: async ({ state: now, code, owner, profileName }) => {
      // From now on the next process records the state.
      if (isClosed) return
      state = now
      if (now !== 'connecting') listener.onAnswered()
      await recordState(ctx, key, { state: now, code, owner, profileName }, ctx.processId)
      // A reconnect may have been requested meanwhile.
      if (now === 'close' && !isClosed && !session.isRunning()) listener.onEnd()
    },
    onCode: async (code) => {
      if (isClosed) return
      listener.onAnswered()
      await recordCode(ctx, key, code, ctx.processId)
    },
    // Until the very end, because the network does not send these messages again.
    onMessages: async (events) => {
      const body = Buffer.from(JSON.stringify({ object: 'linked_device', events }))
      await insertCallbacks(ctx.database, [{ organizationId, id: newId(), body, instanceId, traceparent: null }])
    },
    onSignal: (signal) => {
      if (!isClosed) signals.tell(signal)
    },
    onUnrecorded: listener.onUnrecorded,
    findMessage: (networkId) => findContentToResend(ctx, organizationId, instanceId, networkId),
    openFile: (mediaId) => openFile(ctx, organizationId, mediaId),
    settings: () => readSettings(instance().settings),
    socketUrl,
    log,
  })

  async function run(command: DeviceCommand, timeoutMs: number): Promise<DeviceAnswer> {
    const running = session.run(command, timeoutMs)
    commands.add(running)
    try {
      return await running
    } catch (error) {
      log.error({ err: error, verb: command.verb }, 'a command to a linked device failed')
      return { outcome: 'unknown', text: 'the command failed in the middle' }
    } finally {
      commands.delete(running)
    }
  }

  return {
    state: () => state,
    run,
    isIdle: () => commands.size === 0,
    close: async (graceMs) => {
      if (graceMs > 0) await withTimeout(Promise.allSettled(commands), graceMs)
      isClosed = true
      const hungUp = session.stop().catch((error) => log.warn({ err: error }, 'a linked device did not disconnect'))
      await withTimeout(Promise.all([hungUp, signals.done()]), HANG_UP_TIMEOUT_MS)
      store.close()
    },
  }
}

async function openFile(ctx: BaseContext, organizationId: string, mediaId: string): Promise<OpenedFile> {
  const media = await findMedia(ctx.database, organizationId, mediaId)
  if (media === null) throw new Error(`The file ${mediaId} is not kept any more`)
  return {
    source: { stream: await openMedia(ctx, media) },
    mimeType: media.mime_type,
    filename: media.filename,
  }
}

/** The settings' names are those of the gateway. */
function readSettings(settings: LeasedInstance['settings']): DeviceSettings {
  return {
    rejectCalls: settings.rejectCall === true,
    callAnswer: asText(settings.msgCall),
    ignoreGroups: settings.groupsIgnore === true,
    alwaysOnline: settings.alwaysOnline === true,
    readMessages: settings.readMessages === true,
  }
}
