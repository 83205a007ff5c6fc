import { type RefObject, useCallback, useRef, useState } from 'react'
import { tellProblem } from '../../../../shared/problem.js'
import type { ThreadWindow } from '../window.js'

/** What is shown of a conversation. */
export interface Shown {
  /** Undefined until the first page is here. */
  window: ThreadWindow | undefined
  /** Another number: the window does not continue the one before, and is to be shown anew at `target`. */
  generation: number
  /** The number of the message that the reader asked for; null: the newest. */
  target: number | null
}

/** What is held of a conversation, and how it changes. */
export interface Held {
  shown: Shown
  /** What is held at this moment, not when it was last drawn. */
  held: RefObject<ThreadWindow | undefined>
  begin: (window: ThreadWindow) => void
  change: (to: (window: ThreadWindow) => ThreadWindow) => void
  replace: (window: ThreadWindow, target: number | null) => void
}

/** Holds a part of a conversation. */
export function useHeld(first: () => ThreadWindow | undefined, target: number | null): Held {
  const [shown, setShown] = useState<Shown>(() => ({ window: first(), generation: 0, target }))
  const held = useRef(shown.window)
  const begin = useCallback((window: ThreadWindow) => {
    held.current = window
    setShown((before) => ({ ...before, window }))
  }, [])
  const change = useCallback(
    (to: (window: ThreadWindow) => ThreadWindow) => {
      if (held.current) begin(to(held.current))
    },
    [begin],
  )
  const replace = useCallback((window: ThreadWindow, target: number | null) => {
    held.current = window
    setShown(({ generation }) => ({ window, generation: generation + 1, target }))
  }, [])
  return { shown, held, begin, change, replace }
}

/** One at a time of each name; what fails is told, and asked for again when the reader comes by again. */
export function useOnce(): (name: string, work: () => Promise<void>) => Promise<void> {
  const begun = useRef(new Map<string, Promise<void>>())
  return useCallback((name, work) => {
    const running = begun.current.get(name)
    if (running) return running
    const ended = work()
      .catch((error) => tellProblem(error))
      .finally(() => begun.current.delete(name))
    begun.current.set(name, ended)
    return ended
  }, [])
}
