/** How long a step may take before other requests are handled. */
const STEP_MS = 4
/** The pause between two steps. A request has several turns of the event loop in it. */
const REST_MS = 4

const waiting: (() => void)[] = []

/**
 * Splits long work into steps. The function that it returns is called often; it returns null, or when a step has taken
 * long, a promise that resolves at this work's next turn. All works of the process take turns, with a pause between two
 * steps, so that many of them delay other requests no more than one does.
 */
export function createSteps(): () => Promise<void> | null {
  let until = performance.now() + STEP_MS
  return () => {
    if (performance.now() < until) return null
    return nextTurn().then(() => {
      until = performance.now() + STEP_MS
    })
  }
}

/** Resolves after a pause, and after those who wait already. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setTimeout(admit, REST_MS)
  })
}

function admit(): void {
  waiting.shift()?.()
  // The pause begins when the step has ended, which runs before any setImmediate.
  if (waiting.length > 0) setImmediate(() => setTimeout(admit, REST_MS))
}
