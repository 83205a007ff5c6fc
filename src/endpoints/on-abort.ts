import { memoize } from '../lib/async/memoize.js'

/**
 * Has `listener` called when the signal is aborted, or soon where it is already; returns what takes it off again. However many calls are under way under one signal, it
 * has one listener: the runtime walks through all of them to add one, which at a thousand costs as much as the call itself.
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
