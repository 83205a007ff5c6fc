import type { Readable } from 'node:stream'

/** Bytes `start` to `end`, both included, from 0. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Stores media. A key consists of lower-case letters, digits, `-` and `/` (`organization/id`) and is made by the
 * service, never by a client; other keys throw.
 */
export interface BlobStore {
  /**
   * Stores a copy of the file at `path` under `key`, replacing an existing one. When it resolves the bytes are durable;
   * if it rejects nothing has changed. The file must not be written to afterwards, because the copy may share its
   * bytes.
   */
  put(key: string, path: string, contentType: string): Promise<void>
  /**
   * A stream of the whole or of a range inside it; null if there is nothing under `key`. The caller must read it to the
   * end or destroy it.
   */
  open(key: string, range?: ByteRange): Promise<Readable | null>
  /** Removes the given keys; missing ones are ignored. */
  remove(keys: readonly string[]): Promise<void>
  /** The sizes in bytes of these keys, which are sorted and share a folder; null: nothing is stored under the key. */
  sizes(keys: readonly string[]): Promise<(number | null)[]>
  /** All keys below a folder such as `organization`, page by page, in any order. */
  list(folder: string): AsyncIterable<readonly string[]>
  close(): Promise<void>
}
