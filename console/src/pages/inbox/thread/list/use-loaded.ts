import { type RefObject, useCallback, useRef, useState } from 'react'
import { notifyError } from '../../../../shared/problem.js'
import type { ThreadWindow } from '../window.js'

/** The loaded part of a conversation, as rendered. */
export interface Shown {
  /** Undefined until the first page is loaded. */
  window: ThreadWindow | undefined
  /** Changes when the window does not continue the previous one; the list then starts again at `target`. */
  generation: number
  /** The number of the message to show. Null: the newest. */
  target: number | null
}

/** The loaded part of a conversation, and functions that change it. */
export interface Loaded {
  shown: Shown
  /** The current window, which may not be rendered yet. */
  loaded: RefObject<ThreadWindow | undefined>
  begin: (window: ThreadWindow) => void
  change: (to: (window: ThreadWindow) => ThreadWindow) => void
  replace: (window: ThreadWindow, target: number | null) => void
}

/** State of the loaded part of a conversation. */
export function useLoaded(first: () => ThreadWindow | undefined, target: number | null): Loaded {
  const [shown, setShown] = useState<Shown>(() => ({ window: first(), generation: 0, target }))
  const loaded = useRef(shown.window)
  const begin = useCallback((window: ThreadWindow) => {
    loaded.current = window
    setShown((before) => ({ ...before, window }))
  }, [])
  const change = useCallback(
    (to: (window: ThreadWindow) => ThreadWindow) => {
      if (loaded.current) begin(to(loaded.current))
    },
    [begin],
  )
  const replace = useCallback((window: ThreadWindow, target: number | null) => {
    loaded.current = window
    setShown(({ generation }) => ({ window, generation: generation + 1, target }))
  }, [])
  return { shown, loaded, begin, change, replace }
}

/** Runs one task per name at a time. A failure shows a notification; the task runs again when it is next needed. */
export function useOnce(): (name: string, work: () => Promise<void>) => Promise<void> {
  const begun = useRef(new Map<string, Promise<void>>())
  return useCallback((name, work) => {
    const running = begun.current.get(name)
    if (running) return running
    const ended = work()
      .catch((error) => notifyError(error))
      .finally(() => begun.current.delete(name))
    begun.current.set(name, ended)
    return ended
  }, [])
}
