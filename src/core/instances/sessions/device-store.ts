import type { KeyEntry, KeyStore } from '../../../channels/linked-device/key-store.js'
import type { Context } from '../../../context.js'
import {
  clearDeviceSession,
  findDeviceCredentials,
  findDeviceKeys,
  type SessionChange,
  writeDeviceSession,
} from '../../../storage/instances/device-sessions.js'

/** What a device store needs to be told. */
export interface DeviceStoreOptions {
  organizationId: string
  instanceId: string
  /** Another process has the instance now. */
  onLost: () => void
}

/** The keys of one session of a linked device; after `close` it takes no more. */
export interface DeviceStore extends KeyStore {
  close(): void
}

/**
 * Keeps the keys of a linked device in the database, sealed (contract 5). Writes are done one after the other, each whole or not at
 * all, and only while this process holds the instance: one that has lost it cannot spoil the keys of the next, nor begin to connect.
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
      // A process that has lost it must not connect beside the next one.
      if (found === null) return lose()
      return found.credentials && secrets.open(found.credentials, credentialsContext)
    },
    readKeys: async (type, ids) => {
      const stored = await findDeviceKeys(database, organizationId, instanceId, type, ids)
      return new Map(Array.from(stored, ([id, value]) => [id, secrets.open(value, keyContext)]))
    },
    write: (change) =>
      enqueue(() => writeDeviceSession(database, organizationId, instanceId, processId, encrypt(change))),
    clear: () => enqueue(() => clearDeviceSession(database, organizationId, instanceId, processId)),
    close: () => {
      isClosed = true
    },
  }
}

/** A statement takes each key once. */
function lastOfEach(keys: readonly KeyEntry[]): Iterable<KeyEntry> {
  return new Map(keys.map((key) => [JSON.stringify([key.type, key.id]), key])).values()
}
