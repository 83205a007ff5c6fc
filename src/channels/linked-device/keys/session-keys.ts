import { createLruCache } from '../../../lib/async/lru-cache.js'
import { asObject } from '../../../lib/text/json.js'
import type { AuthenticationState, Credentials, KeysByType, LinkedLibrary } from '../library.js'
import { type KeyEntry, type KeyStore, KeysNotRead, KeysNotWritten } from './key-store.js'

/** The keys of a session while a connection uses them. */
export interface SessionKeys {
  /** In the library's format. */
  state: AuthenticationState
  /** Whether a phone has linked this device. */
  isLinked: boolean
  /** Marks the credentials, which the library changes in place, as changed. */
  credentialsChanged(): void
  /**
   * Takes no further changes, since the next connection may change the same keys. Resolves when earlier changes are
   * written.
   */
  close(): Promise<void>
}

interface Pending {
  withCredentials: boolean
  keys: Map<string, KeyEntry>
  written: Promise<void>
}

/** Values have a few KB at most. The number covers the people that a device writes with within an hour. */
const MAX_CACHED = 500

/**
 * Reads the session from the store, or begins a new one. Changes of the same moment, to credentials and keys, are
 * written in one transaction. `onFailure` is called when a write fails; the connection must end then, because the
 * network would go on with keys that are lost at a restart. The library gets a KeysNotWritten, or a KeysNotRead if a
 * read fails.
 */
export async function openSessionKeys(
  library: LinkedLibrary,
  store: KeyStore,
  onFailure: (error: unknown) => void,
): Promise<SessionKeys> {
  const stored = await store.load()
  const found = stored === null ? null : (decode(stored) as Credentials)
  // Without an account the code was never scanned, so the network does not know these credentials.
  const isLinked = found?.account !== undefined
  const creds = found !== null && isLinked ? found : library.initAuthCreds()
  let pending: Pending | null = null
  let last: Promise<void> = Promise.resolve()
  let failure: { error: unknown } | null = null
  let isClosed = false
  // Values that are newer than the store, until they are written.
  const overlay = new Map<string, KeyEntry>()
  // The values of the store (null: none), so that the library need not wait. Nothing else writes to the store while
  // this connection can.
  const cache = createLruCache<string | null>(MAX_CACHED)

  /** Changes until the next turn of the event loop share one transaction. */
  function schedule(): Pending {
    if (pending !== null) return pending
    const next: Pending = { withCredentials: false, keys: new Map(), written: Promise.resolve() }
    const before = last
    next.written = new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        before.then(() => write(next)).then(resolve, reject)
      })
    })
    last = next.written
    last.catch(fail)
    pending = next
    return next
  }

  async function write(change: Pending): Promise<void> {
    if (pending === change) pending = null
    if (failure) throw failure.error
    const keys = [...change.keys.values()]
    await store.write({ credentials: change.withCredentials ? encode(creds) : null, keys })
    for (const entry of keys) {
      const name = nameOf(entry.type, entry.id)
      cache.set(name, entry.value)
      if (overlay.get(name) === entry) overlay.delete(name)
    }
  }

  function fail(error: unknown): void {
    if (failure) return
    failure = { error }
    onFailure(error)
  }

  async function get(type: string, ids: string[]): Promise<Record<string, unknown>> {
    const missing = ids.filter((id) => newest(type, id) === undefined)
    const stored = missing.length === 0 ? new Map<string, string>() : await read(type, missing)
    for (const id of missing) {
      // A value that was written meanwhile is newer.
      if (newest(type, id) === undefined) cache.set(nameOf(type, id), stored.get(id) ?? null)
    }
    const found: Record<string, unknown> = {}
    for (const id of ids) {
      const known = newest(type, id)
      const text = known === undefined ? stored.get(id) : known
      if (text !== undefined && text !== null) found[id] = toValue(type, decode(text))
    }
    return found
  }

  function newest(type: string, id: string): string | null | undefined {
    const name = nameOf(type, id)
    const entry = overlay.get(name)
    return entry ? entry.value : cache.get(name)
  }

  function read(type: string, ids: string[]): Promise<Map<string, string>> {
    return store.readKeys(type, ids).catch((error: unknown) => {
      throw new KeysNotRead(error)
    })
  }

  async function set(data: KeysByType): Promise<void> {
    if (failure) throw new KeysNotWritten(failure.error)
    if (isClosed) throw new KeysNotWritten('the connection whose keys these are has ended')
    const change = schedule()
    for (const [type, values] of Object.entries(data)) {
      for (const [id, value] of Object.entries(values)) {
        const entry = { type, id, value: value === null || value === undefined ? null : encode(value) }
        change.keys.set(nameOf(type, id), entry)
        overlay.set(nameOf(type, id), entry)
      }
    }
    await change.written.catch((error: unknown) => {
      throw new KeysNotWritten(error)
    })
  }

  const encode = (value: unknown) => JSON.stringify(value, library.BufferJSON.replacer)
  function decode(text: string): unknown {
    return JSON.parse(text, library.BufferJSON.reviver)
  }
  function toValue(type: string, value: unknown): unknown {
    if (type !== 'app-state-sync-key') return value
    return library.proto.Message.AppStateSyncKeyData.fromObject(asObject(value))
  }

  return {
    state: { creds, keys: { get, set } },
    isLinked,
    credentialsChanged: () => {
      if (!failure && !isClosed) schedule().withCredentials = true
    },
    close: async () => {
      isClosed = true
      await last.catch(() => undefined)
    },
  }
}

function nameOf(type: string, id: string): string {
  return `${type}\0${id}`
}
