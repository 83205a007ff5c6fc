/** A stored value of a session: kind, id and text; null removes it. */
export interface KeyEntry {
  type: string
  id: string
  value: string | null
}

/** Stores the session of one linked device. All of it is secret. */
export interface KeyStore {
  /** The credentials as last written; null if there are none. */
  load(): Promise<string | null>
  /** The values of these ids, by id; missing ones are left out. */
  readKeys(type: string, ids: readonly string[]): Promise<Map<string, string>>
  /** Writes everything in one transaction. Null credentials stay as they are. */
  write(change: { credentials: string | null; keys: readonly KeyEntry[] }): Promise<void>
  clear(): Promise<void>
}

/** A change of a session was not written; the network may know of it already. */
export class KeysNotWritten extends Error {
  constructor(cause: unknown) {
    super(`The keys of the session could not be written: ${messageOf(cause)}`, { cause })
  }
}

/** The keys of a session could not be read. */
export class KeysNotRead extends Error {
  constructor(cause: unknown) {
    super(`The keys of the session could not be read: ${messageOf(cause)}`, { cause })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
