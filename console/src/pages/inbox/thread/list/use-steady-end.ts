import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** Nearer to the end than this is at the end. */
const NEAR_PX = 60

/** The end of a list, at which it stays whatever becomes larger or smaller, until the reader scrolls away from it. */
export interface SteadyEnd {
  isAtEnd: boolean
  /** The list's scrolling element. */
  attach: (scroller: HTMLElement | Window | null) => void
  goToEnd: () => void
  /** What comes next leads away from the end. */
  leave: () => void
  /** Looks where the list stands: where all of it is in sight nothing ever scrolls. */
  check: () => void
}

/** `beginsAtEnd` is asked whenever a list is attached. */
export function useSteadyEnd(beginsAtEnd: boolean): SteadyEnd {
  const [isAtEnd, setAtEnd] = useState(beginsAtEnd)
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const begins = useRef(beginsAtEnd)
  begins.current = beginsAtEnd
  // What the observers go by: the state is drawn later.
  const held = useRef(beginsAtEnd)
  const set = useCallback((now: boolean) => {
    held.current = now
    setAtEnd(now)
  }, [])
  const attach = useCallback(
    (element: HTMLElement | Window | null) => {
      if (!(element instanceof HTMLElement)) return
      set(begins.current)
      setScroller(element)
    },
    [set],
  )
  useHold(scroller, held, setAtEnd)
  const goToEnd = useCallback(() => {
    set(true)
    scroller?.scrollTo({ top: scroller.scrollHeight })
  }, [scroller, set])
  const leave = useCallback(() => set(false), [set])
  const check = useCallback(() => {
    if (scroller && restOf(scroller) <= NEAR_PX) set(true)
  }, [scroller, set])
  return { isAtEnd, attach, goToEnd, leave, check }
}

/** By these a reader scrolls. */
const READERS = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'focusin'] as const

/**
 * Scrolls to the end again whenever something has changed its height, between the layout and the drawing of it. The list scrolls by
 * itself as well, when it has measured what it only guessed: that leads away from the end only where the reader's hand is in it.
 */
function useHold(scroller: HTMLElement | null, held: RefObject<boolean>, show: (isAtEnd: boolean) => void): void {
  useEffect(() => {
    if (!scroller) return
    let isReaders = false
    const settle = () => {
      const rest = restOf(scroller)
      if (held.current && rest > 0) scroller.scrollTop = scroller.scrollHeight
      else if (rest > NEAR_PX) show(false)
    }
    const take = () => {
      isReaders = true
    }
    const onScroll = () => {
      if (!isReaders) return settle()
      // From its first pixel on: else what is measured meanwhile would pull it back.
      held.current = restOf(scroller) < 1
      show(restOf(scroller) <= NEAR_PX)
    }
    const onScrolled = () => {
      isReaders = false
      held.current = restOf(scroller) <= NEAR_PX
      show(held.current)
    }
    const observer = new ResizeObserver(settle)
    for (const part of [scroller, ...partsOf(scroller)]) observer.observe(part, { box: 'border-box' })
    for (const name of READERS) scroller.addEventListener(name, take, { passive: true })
    scroller.addEventListener('scroll', onScroll, { passive: true })
    scroller.addEventListener('scrollend', onScrolled)
    return () => {
      observer.disconnect()
      for (const name of READERS) scroller.removeEventListener(name, take)
      scroller.removeEventListener('scroll', onScroll)
      scroller.removeEventListener('scrollend', onScrolled)
    }
  }, [scroller, held, show])
}

/** Heading, items and foot: they lie in a frame that is as high as the scroller itself. */
function partsOf(scroller: HTMLElement): Element[] {
  return [...(scroller.firstElementChild?.children ?? [])]
}

/** How much there is below what is in sight. */
function restOf({ scrollTop, scrollHeight, clientHeight }: HTMLElement): number {
  return scrollHeight - clientHeight - scrollTop
}
