import type { KeyEntry, KeyStore } from '../../../channels/linked-device/keys/key-store.js'
import type { Context } from '../../../context.js'
import {
  clearDeviceSession,
  findDeviceCredentials,
  findDeviceKeys,
  type SessionChange,
  writeDeviceSession,
} from '../../../storage/instances/device-sessions.js'

export interface DeviceStoreOptions {
  organizationId: string
  instanceId: string
  /** Called when another process has taken over the instance. */
  onLost: () => void
}

/** The keys of one session of a linked device; after `close` it accepts no writes. */
export interface DeviceStore extends KeyStore {
  close(): void
}

/**
 * Stores the keys of a linked device in the database, encrypted. Writes run one after the other, each in one
 * transaction, and only while this process holds the lease: a process that lost it can neither overwrite the next one's
 * keys nor connect.
 */
export function createDeviceStore(
  { database, secrets, processId }: Pick<Context, 'database' | 'secrets' | 'processId'>,
  { organizationId, instanceId, onLost }: DeviceStoreOptions,
): DeviceStore {
  const credentialsContext = `${organizationId}:${instanceId}:device.credentials`
  const keyContext = `${organizationId}:${instanceId}:device.key`
  let lastWrite: Promise<unknown> = Promise.resolve()
  let isClosed = false

  function enqueue(write: () => Promise<boolean>): Promise<void> {
    const written = lastWrite.then(async () => {
      if (isClosed) throw new Error('The session of the linked device has ended in this process')
      if (!(await write())) lose()
    })
    lastWrite = written.catch(() => undefined)
    return written
  }

  function lose(): never {
    isClosed = true
    onLost()
    throw new Error('Another process runs the linked device now')
  }

  function encrypt({ credentials, keys }: Parameters<KeyStore['write']>[0]): SessionChange {
    const written: SessionChange['written'][number][] = []
    const removed: SessionChange['removed'][number][] = []
    for (const { type, id, value } of lastOfEach(keys)) {
      if (value === null) removed.push({ type, id })
      else written.push({ type, id, value: secrets.seal(value, keyContext) })
    }
    return {
      credentials: credentials === null ? null : secrets.seal(credentials, credentialsContext),
      written,
      removed,
    }
  }

  return {
    load: async () => {
      const found = await findDeviceCredentials(database, organizationId, instanceId, processId)
      // A process that has lost the lease must not connect while the next one does.
      if (found === null) return lose()
      return found.credentials && secrets.open(found.credentials, credentialsContext)
    },
    readKeys: async (type, ids) => {
      const stored = await findDeviceKeys(database, organizationId, instanceId, { type, ids })
      return new Map(Array.from(stored, ([id, value]) => [id, secrets.open(value, keyContext)]))
    },
    write: (change) =>
      enqueue(() => writeDeviceSession(database, organizationId, instanceId, { processId, change: encrypt(change) })),
    clear: () => enqueue(() => clearDeviceSession(database, organizationId, instanceId, processId)),
    close: () => {
      isClosed = true
    },
  }
}

/** The statement accepts each key once. */
function lastOfEach(keys: readonly KeyEntry[]): Iterable<KeyEntry> {
  return new Map(keys.map((key) => [JSON.stringify([key.type, key.id]), key])).values()
}
