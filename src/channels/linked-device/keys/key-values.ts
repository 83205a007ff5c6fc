import { createLruCache } from '../../../lib/async/lru-cache.js'
import { type KeyEntry, type KeyStore, KeysNotRead } from './key-store.js'

/** Values have a few KB at most. The number covers the people that a device writes with within an hour. */
const MAX_CACHED = 500

/** The newest values of a session's keys, as text: changes that are not written yet, then those of the store. */
export class KeyValues {
  readonly #store: KeyStore
  readonly #unwritten = new Map<string, KeyEntry>()
  /**
   * The values of the store (null: none), so that the library need not wait. Nothing else writes to the store while
   * this connection can.
   */
  readonly #stored = createLruCache<string | null>(MAX_CACHED)

  constructor(store: KeyStore) {
    this.#store = store
  }

  /** The values of these ids, by id; missing ones are left out. Throws KeysNotRead. */
  async read(type: string, ids: readonly string[]): Promise<Map<string, string>> {
    const missing = ids.filter((id) => this.#newest(type, id) === undefined)
    const stored = missing.length === 0 ? new Map<string, string>() : await this.#readStored(type, missing)
    for (const id of missing) {
      // A value that was written meanwhile is newer.
      if (this.#newest(type, id) === undefined) this.#stored.set(nameOf({ type, id }), stored.get(id) ?? null)
    }
    const found = new Map<string, string>()
    for (const id of ids) {
      const known = this.#newest(type, id)
      const text = known === undefined ? stored.get(id) : known
      if (text !== undefined && text !== null) found.set(id, text)
    }
    return found
  }

  /** The entry is to be written. */
  changed(entry: KeyEntry): void {
    this.#unwritten.set(nameOf(entry), entry)
  }

  /** The entry has been written; it may have changed again since. */
  written(entry: KeyEntry): void {
    const name = nameOf(entry)
    this.#stored.set(name, entry.value)
    if (this.#unwritten.get(name) === entry) this.#unwritten.delete(name)
  }

  /** Null: there is none; undefined: unknown. */
  #newest(type: string, id: string): string | null | undefined {
    const name = nameOf({ type, id })
    const entry = this.#unwritten.get(name)
    return entry ? entry.value : this.#stored.get(name)
  }

  #readStored(type: string, ids: readonly string[]): Promise<Map<string, string>> {
    return this.#store.readKeys(type, ids).catch((error: unknown) => {
      throw new KeysNotRead(error)
    })
  }
}

/** The name of a key among all keys of the session. */
export function nameOf({ type, id }: Pick<KeyEntry, 'type' | 'id'>): string {
  return `${type}\0${id}`
}
