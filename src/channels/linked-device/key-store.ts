/** A value of a session: which kind, by which id, and its text; null removes it. */
export interface KeyEntry {
  type: string
  id: string
  value: string | null
}

/** Where the session of one linked device is kept. All that it holds is secret. */
export interface KeyStore {
  /** The credentials as they were written; null where there are none. */
  load(): Promise<string | null>
  /** The values of those ids that there are, by id. */
  readKeys(type: string, ids: readonly string[]): Promise<Map<string, string>>
  /** Writes all of it in one transaction, or nothing. Credentials that are not given stay as they are. */
  write(change: { credentials: string | null; keys: readonly KeyEntry[] }): Promise<void>
  /** Removes credentials and keys. */
  clear(): Promise<void>
}

/** What has changed of a session was not written; the network may know of it already. */
export class KeysNotWritten extends Error {
  constructor(cause: unknown) {
    super(`The keys of the session could not be written: ${messageOf(cause)}`, { cause })
  }
}

/** The keys of a session could not be looked at. */
export class KeysNotRead extends Error {
  constructor(cause: unknown) {
    super(`The keys of the session could not be read: ${messageOf(cause)}`, { cause })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
