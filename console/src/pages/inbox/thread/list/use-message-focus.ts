import { type KeyboardEvent, type RefObject, useState } from 'react'
import type { VirtuosoHandle } from 'react-virtuoso'

/** Keys that move the focus from message to message. Only one message is in the tab order. */
export function useMessageFocus(
  list: RefObject<VirtuosoHandle | null>,
  first: number,
  last: number,
  onWalk: () => void,
) {
  const [focused, setFocused] = useState<number | null>(null)
  const focusable = focused !== null && focused >= first && focused <= last ? focused : last
  const focus = (seq: number) => {
    setFocused(seq)
    if (seq < last) onWalk()
    list.current?.scrollIntoView({
      index: seq - first,
      done: () => document.getElementById(`message-${seq}`)?.focus({ preventScroll: true }),
    })
  }
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const from = (event.target as HTMLElement).id.match(/^message-(-?\d+)$/)?.[1]
    if (from === undefined) return
    const to = { ArrowUp: Number(from) - 1, ArrowDown: Number(from) + 1, Home: first, End: last }[event.key]
    if (to === undefined || to < first || to > last) return
    event.preventDefault()
    focus(to)
  }
  return { focusable, walk }
}
