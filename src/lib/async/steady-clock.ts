/**
 * A clock that follows another one, and that a jump of this machine's clock does not move: between two readings it goes
 * on by the monotonic clock.
 */
export interface SteadyClock {
  now: () => Date
  /** Sets it by a reading of the other clock; `elapsedMs`: how long the reading took, which may not tell when in it. */
  follow(reading: Date, elapsedMs: number): void
}

/** `monotonic`: milliseconds since any moment. */
export function createSteadyClock(reading: Date, monotonic: () => number = () => performance.now()): SteadyClock {
  let offset = reading.getTime() - monotonic()
  return {
    now: () => new Date(Math.floor(offset + monotonic())),
    follow: (reading, elapsedMs) => {
      const behindMs = reading.getTime() + elapsedMs - (offset + monotonic())
      // Within the uncertainty, it goes on undisturbed, so that it is not set back each time by how long readings take.
      if (behindMs < 0 || behindMs > elapsedMs) offset += behindMs - elapsedMs / 2
    },
  }
}
