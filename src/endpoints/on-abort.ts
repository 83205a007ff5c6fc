import { memoize } from '../lib/async/memoize.js'

/**
 * Calls `listener` when the signal aborts, or soon if it already has; returns a function that removes it. All listeners
 * of a signal share one native listener, because Node walks through all of them to add one, which costs as much as a
 * call once there are a thousand.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) queueMicrotask(listener)
  const listeners = listenersOf(signal)
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const listenersOf = memoize((signal: AbortSignal) => {
  const listeners = new Set<() => void>()
  signal.addEventListener('abort', () => {
    for (const listener of listeners) listener()
  })
  return listeners
})
