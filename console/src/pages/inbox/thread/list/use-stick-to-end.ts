import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** Distance in px from the end that still counts as the end. */
const NEAR_PX = 60

/** Keeps a list at its end while content changes size, until the reader scrolls away. */
export interface StickToEnd {
  isAtEnd: boolean
  /** The list's scrolling element. */
  attach: (scroller: HTMLElement | Window | null) => void
  goToEnd: () => void
  /** Call before scrolling away from the end. */
  leave: () => void
  /** Updates `isAtEnd`, for lists that are too short to scroll. */
  check: () => void
}

/** `beginsAtEnd` is called when a list is attached. */
export function useStickToEnd(beginsAtEnd: boolean): StickToEnd {
  const [isAtEnd, setAtEnd] = useState(beginsAtEnd)
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const begins = useRef(beginsAtEnd)
  begins.current = beginsAtEnd
  // For the observers, which run before the state is rendered.
  const loaded = useRef(beginsAtEnd)
  const set = useCallback((now: boolean) => {
    loaded.current = now
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
  useHold(scroller, loaded, setAtEnd)
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

/** Events by which a reader scrolls. */
const READERS = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'focusin'] as const

/**
 * Scrolls to the end after each change of height, between layout and paint. The list also scrolls when it has measured
 * items; that leaves the end only while the reader is scrolling.
 */
function useHold(scroller: HTMLElement | null, loaded: RefObject<boolean>, show: (isAtEnd: boolean) => void): void {
  useEffect(() => {
    if (!scroller) return
    let isReaders = false
    const settle = () => {
      const rest = restOf(scroller)
      if (loaded.current && rest > 0) scroller.scrollTop = scroller.scrollHeight
      else if (rest > NEAR_PX) show(false)
    }
    const take = () => {
      isReaders = true
    }
    const onScroll = () => {
      if (!isReaders) return settle()
      // From the first pixel: otherwise a measurement would pull the list back.
      loaded.current = restOf(scroller) < 1
      show(restOf(scroller) <= NEAR_PX)
    }
    const onScrolled = () => {
      isReaders = false
      loaded.current = restOf(scroller) <= NEAR_PX
      show(loaded.current)
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
  }, [scroller, loaded, show])
}

/** Heading, items and footer, in a frame as high as the scroller. */
function partsOf(scroller: HTMLElement): Element[] {
  return [...(scroller.firstElementChild?.children ?? [])]
}

/** The height of the content below the visible part. */
function restOf({ scrollTop, scrollHeight, clientHeight }: HTMLElement): number {
  return scrollHeight - clientHeight - scrollTop
}
