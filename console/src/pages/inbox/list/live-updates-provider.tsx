import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { useLive } from '../../../api/live.js'
import { applyContact, applyEvent, type UpdatesById } from './live-updates.js'

interface LiveUpdates {
  /** A new object after each change; the map in it stays the same. */
  readonly latest: { readonly updates: UpdatesById }
  /** Applies a contact that the service returned, without waiting for its event. `askedAt`: in ms of performance.now(). */
  keep: (contact: InboxContact, askedAt: number) => void
  /** Removes an erased contact: there is no event for the erasure by this page. */
  forget: (contactId: string) => void
}

const Context = createContext<LiveUpdates | null>(null)

/** Updates of this many ms are rendered together: a broadcast causes hundreds per second. */
const RENDER_DELAY_MS = 50

/** Collects updates of contacts on all pages, so that the inbox is current when it is opened again. */
export function LiveUpdatesProvider({ children }: { children: ReactNode }) {
  const [latest, setLatest] = useState(() => ({ updates: new Map() as UpdatesById }))
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const show = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      setLatest(({ updates }) => ({ updates }))
    }, RENDER_DELAY_MS)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  useLive((event) => {
    if (applyEvent(latest.updates, event, performance.now())) show()
    const { unmerged, contact_id } = event
    if (unmerged === undefined) return
    void queries.invalidateQueries({ queryKey: ['inbox', 'list'] })
    for (const id of [contact_id, unmerged.id]) queries.removeQueries({ queryKey: ['thread', id], type: 'inactive' })
  })
  const liveUpdates = useMemo(
    () => ({
      latest,
      keep: (contact: InboxContact, askedAt: number) => {
        applyContact(latest.updates, contact, askedAt, performance.now())
        setLatest(({ updates }) => ({ updates }))
      },
      forget: (contactId: string) => {
        latest.updates.set(contactId, { at: performance.now(), fields: null, lastMessage: null })
        setLatest(({ updates }) => ({ updates }))
      },
    }),
    [latest],
  )
  return <Context.Provider value={liveUpdates}>{children}</Context.Provider>
}

/** Updates of contacts since the page was opened. Only below LiveUpdatesProvider. */
export function useLiveUpdates(): LiveUpdates {
  const liveUpdates = useContext(Context)
  if (!liveUpdates) throw new Error('useLiveUpdates needs a LiveUpdatesProvider')
  return liveUpdates
}
