/** Lets callers wait until nothing is pending. */
export class Idle {
  readonly #pending: () => number
  readonly #waiters = new Set<() => void>()

  constructor(pending: () => number) {
    this.#pending = pending
  }

  /** Call it whenever something pending may have ended. */
  progressed(): void {
    if (this.#waiters.size === 0 || this.#pending() > 0) return
    for (const wake of [...this.#waiters]) wake()
  }

  /** Resolves once nothing is pending, or after `timeoutMs`, with the number of pending items. */
  async wait(timeoutMs: number): Promise<number> {
    if (this.#pending() === 0) return 0
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiters.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, timeoutMs).unref()
      this.#waiters.add(wake)
    })
    return this.#pending()
  }
}
