import { asObject } from '../../../lib/text/json.js'
import type { AuthenticationState, Credentials, KeysByType, LinkedLibrary } from '../library.js'
import type { KeyEntry, KeyStore } from './key-store.js'
import { KeyValues } from './key-values.js'
import { KeyWriter } from './key-writer.js'

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

/**
 * Reads the session from the store, or begins a new one. Changes of the same moment, to credentials and keys, are
 * written in one transaction. `onFailure` is called when a write fails; the connection must end then, because the
 * network would continue with keys that are lost at a restart. The library gets a KeysNotWritten, or a KeysNotRead if a
 * read fails.
 */
export async function openSessionKeys(
  library: LinkedLibrary,
  store: KeyStore,
  onFailure: (error: unknown) => void,
): Promise<SessionKeys> {
  const stored = await store.load()
  const found = stored === null ? null : (decode(library, stored) as Credentials)
  // Without an account the code was never scanned, so the network does not know these credentials.
  const isLinked = found?.account !== undefined
  const creds = found !== null && isLinked ? found : library.initAuthCreds()
  const values = new KeyValues(store)
  const writer = new KeyWriter({ store, values, credentials: () => encode(library, creds), onFailure })
  return {
    state: { creds, keys: toLibraryKeys(library, values, writer) },
    isLinked,
    credentialsChanged: () => writer.writeCredentials(),
    close: () => writer.close(),
  }
}

/** The keys as the library reads and writes them. */
function toLibraryKeys(library: LinkedLibrary, values: KeyValues, writer: KeyWriter): AuthenticationState['keys'] {
  return {
    get: async (type, ids) => {
      const found: Record<string, unknown> = {}
      for (const [id, text] of await values.read(type, ids)) found[id] = toValue(library, type, text)
      return found
    },
    set: (data) => writer.writeKeys(toEntries(library, data)),
  }
}

function toEntries(library: LinkedLibrary, data: KeysByType): KeyEntry[] {
  return Object.entries(data).flatMap(([type, byId]) =>
    Object.entries(byId).map(([id, value]) => ({ type, id, value: isNone(value) ? null : encode(library, value) })),
  )
}

function isNone(value: unknown): boolean {
  return value === null || value === undefined
}

function toValue(library: LinkedLibrary, type: string, text: string): unknown {
  const value = decode(library, text)
  if (type !== 'app-state-sync-key') return value
  return library.proto.Message.AppStateSyncKeyData.fromObject(asObject(value))
}

function encode({ BufferJSON }: LinkedLibrary, value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer)
}

function decode({ BufferJSON }: LinkedLibrary, text: string): unknown {
  return JSON.parse(text, BufferJSON.reviver)
}
