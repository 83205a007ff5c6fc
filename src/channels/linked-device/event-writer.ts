import type { MessageKey, PairingCode } from '../device.js'
import type { Connection } from './connection/connection.js'
import { createRetryQueue, type PendingWrite } from './retry-queue.js'
import type { DeviceState, SessionSettings } from './session-options.js'
import type { DeviceEvent } from './wire/event.js'
import { identify } from './wire/from-network.js'

/** Records the events of a session, in order. */
export interface EventWriter {
  state(state: DeviceState): void
  code(code: PairingCode): void
  messages(connection: Connection, events: DeviceEvent[]): void
  /** The session has ended. `clear`: its keys are no longer valid. */
  end(code: number | null, ending: { clear: boolean; text: string }): void
  /** Resolves when all earlier events are recorded. */
  drained(): Promise<void>
  /** Tries once more to record what is left; messages that still cannot be recorded go to onUnrecorded. */
  close(): Promise<void>
}

/**
 * After this many failures in a row, or if they last longer than this, the device disconnects: the network keeps its
 * messages until it reconnects. What has come is in memory only.
 */
const MAX_FAILURES = 3
const MAX_FAILING_MS = 1_000

/** `onFailing` is called when events cannot be recorded for a while. */
export function createEventWriter(settings: SessionSettings, onFailing: () => void): EventWriter {
  const { store, onState, onCode, onMessages, onUnrecorded, log, sleep, random } = settings
  let lastState = ''
  let isFailing = false
  const retryQueue = createRetryQueue({
    sleep,
    random,
    onFailure: (error, failures, ms) => {
      log.warn({ err: error, failures }, 'Events of a linked device could not be recorded')
      if (failures === 1) isFailing = false
      if (isFailing || (failures < MAX_FAILURES && ms < MAX_FAILING_MS)) return
      isFailing = true
      onFailing()
    },
    onAbandoned: (delivery) => {
      if (delivery.messageIds.length > 0) onUnrecorded(delivery)
    },
  })

  function push(record: PendingWrite['record'], messageIds: readonly string[] = []): void {
    retryQueue.push({ record, messageIds })
  }

  function state(next: DeviceState): void {
    // Repeated attempts to connect are one state.
    const name = next.state === 'connecting' ? 'connecting' : JSON.stringify(next)
    if (name === lastState) return
    lastState = name
    push(() => onState(next))
  }

  function messages({ socket, directory }: Connection, events: DeviceEvent[]): void {
    const identifyAll = () => Promise.all(events.map((event) => identify(event, directory)))
    // At once, so that the look-ups of all waiting messages run at the same time; a failed one is repeated.
    let early: Promise<DeviceEvent[]> | null = identifyAll()
    early.catch(() => undefined)
    const record = async () => {
      const identified = early ?? identifyAll()
      early = null
      const complete = await identified
      await onMessages(complete)
      const keys = settings.settings().readMessages ? complete.flatMap(toUnreadKey) : []
      if (keys.length === 0) return
      socket.readMessages(keys).catch((error: unknown) => {
        log.warn({ err: error }, 'Messages of a linked device could not be marked as read')
      })
    }
    push(
      record,
      events.map(({ key }) => key.id),
    )
  }

  return {
    state,
    code: (code) => push(() => onCode(code)),
    messages,
    end: (code, { clear, text }) => {
      if (clear) push(() => store.clear())
      state({ state: 'close', code, text })
    },
    drained: retryQueue.drained,
    close: retryQueue.close,
  }
}

/** Incoming messages of the conversation. */
function toUnreadKey(event: DeviceEvent): MessageKey[] {
  return event.type === 'message' && !event.key.fromMe ? [event.key] : []
}
