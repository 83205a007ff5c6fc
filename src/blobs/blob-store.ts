import type { Readable } from 'node:stream'

/** Bytes `start` to `end`, both included, counted from 0. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Where the bytes of media are kept. A key is made of lower-case letters, digits, `-` and `/` (`organization/id`), by us
 * and never by a client; any other throws.
 */
export interface BlobStore {
  /**
   * Keeps a copy of the file at `path` under `key`; when it resolves the bytes are safe, and when it rejects nothing has
   * changed. A key that is taken is replaced. The file must not be written to afterwards: the copy may share its bytes.
   */
  put(key: string, path: string, contentType: string): Promise<void>
  /**
   * A stream of the whole, or of the range, which must lie inside. Null when nothing is kept under `key`. Whoever opens it
   * reads it to its end or destroys it.
   */
  open(key: string, range?: ByteRange): Promise<Readable | null>
  /** Removes what is kept under the keys; one that is not there is no error. */
  remove(keys: readonly string[]): Promise<void>
  close(): Promise<void>
}
