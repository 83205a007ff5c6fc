import { type KeyEntry, type KeyStore, KeysNotWritten } from './key-store.js'
import { type KeyValues, nameOf } from './key-values.js'

/** Changes that share one transaction. */
interface Change {
  withCredentials: boolean
  /** By name. */
  entries: Map<string, KeyEntry>
  written: Promise<void>
}

export interface KeyWriterOptions {
  store: KeyStore
  /** The credentials as text, as they are when they are written. */
  credentials: () => string
  /** Learns what is to be written, and what has been. */
  values: KeyValues
  /** Called when a write fails for the first time; no later change is written. */
  onFailure: (error: unknown) => void
}

/**
 * Writes changes of a session, to credentials and keys, one transaction after the other. Changes until the next turn of
 * the event loop share one.
 */
export class KeyWriter {
  readonly #options: KeyWriterOptions
  #pending: Change | null = null
  #last: Promise<void> = Promise.resolve()
  #failure: { error: unknown } | null = null
  #isClosed = false

  constructor(options: KeyWriterOptions) {
    this.#options = options
  }

  /** Resolves when the entries are written. Throws KeysNotWritten. */
  async writeKeys(entries: readonly KeyEntry[]): Promise<void> {
    if (this.#failure) throw new KeysNotWritten(this.#failure.error)
    if (this.#isClosed) throw new KeysNotWritten('the connection whose keys these are has ended')
    const change = this.#schedule()
    for (const entry of entries) {
      change.entries.set(nameOf(entry), entry)
      this.#options.values.changed(entry)
    }
    await change.written.catch((error: unknown) => {
      throw new KeysNotWritten(error)
    })
  }

  writeCredentials(): void {
    if (!this.#failure && !this.#isClosed) this.#schedule().withCredentials = true
  }

  /** Takes no further changes. Resolves when earlier ones are written. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last.catch(() => undefined)
  }

  #schedule(): Change {
    if (this.#pending !== null) return this.#pending
    const before = this.#last
    const change: Change = { withCredentials: false, entries: new Map(), written: Promise.resolve() }
    change.written = new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        before.then(() => this.#write(change)).then(resolve, reject)
      })
    })
    change.written.catch((error: unknown) => this.#fail(error))
    this.#last = change.written
    this.#pending = change
    return change
  }

  async #write(change: Change): Promise<void> {
    if (this.#pending === change) this.#pending = null
    if (this.#failure) throw this.#failure.error
    const { store, credentials, values } = this.#options
    const keys = [...change.entries.values()]
    await store.write({ credentials: change.withCredentials ? credentials() : null, keys })
    for (const entry of keys) values.written(entry)
  }

  #fail(error: unknown): void {
    if (this.#failure) return
    this.#failure = { error }
    this.#options.onFailure(error)
  }
}
