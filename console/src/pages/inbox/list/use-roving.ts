import { type KeyboardEvent, type RefObject, useRef, useState } from 'react'
import type { VirtuosoHandle } from 'react-virtuoso'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { rowId } from './row.js'

/** Roving focus of the list. */
export interface Roving {
  /** The row in the tab order. */
  tabStop: string | null
  onFocus: (contactId: string) => void
  /** Handles arrow keys, Home and End while a row has the focus. */
  onKeyDown: (event: KeyboardEvent) => void
  /** Moves the focus by a number of rows. */
  move: (by: number) => void
  /** Moves the focus to the first row. */
  enter: () => void
}

/** Moves the focus through a list that renders only its visible rows. One row is in the tab order. */
export function useRoving(
  contacts: readonly InboxContact[],
  openId: string | null,
  list: RefObject<VirtuosoHandle | null>,
): Roving {
  const [focused, setFocused] = useState<string | null>(null)
  const find = (id: string | null) => contacts.findIndex((contact) => contact.id === id)
  const place = find(focused) >= 0 ? find(focused) : find(openId)
  // The focused row may be gone: the next one takes its place.
  const last = useRef(0)
  if (place >= 0) last.current = place
  const focusOn = (index: number) => {
    const contact = contacts[Math.max(0, Math.min(contacts.length - 1, index))]
    if (!contact) return
    setFocused(contact.id)
    list.current?.scrollIntoView({
      index: contacts.indexOf(contact),
      done: () => document.getElementById(rowId(contact.id))?.focus({ preventScroll: true }),
    })
  }
  const move = (by: number) => focusOn(place < 0 ? last.current : place + by)
  const steps: Record<string, () => void> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Home: () => focusOn(0),
    End: () => focusOn(contacts.length - 1),
  }
  return {
    tabStop: contacts[Math.max(0, place)]?.id ?? null,
    onFocus: setFocused,
    onKeyDown: (event) => {
      const step = steps[event.key]
      if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      step()
    },
    move,
    enter: () => focusOn(0),
  }
}
