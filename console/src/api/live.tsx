import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import type { LiveEvent } from '../../../src/model/conversations/inbox.js'
import { useSession } from '../session/session.js'
import { openLive } from './live-stream.js'

type Listener = (event: LiveEvent) => void

const Listeners = createContext<Set<Listener>>(new Set())
const Connected = createContext(true)

/** Hears of everything that happens while the page is open; what was missed for too long is loaded anew. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [listeners] = useState(() => new Set<Listener>())
  const [isConnected, setConnected] = useState(true)
  const { member, organization, live_from } = useSession()
  const queries = useQueryClient()
  // Where the page began; when the session is read again it is listening already.
  const [from] = useState(live_from)
  useEffect(
    () =>
      openLive({ organizationId: organization.id, memberId: member.id, from }, (news) => {
        if ('isConnected' in news) setConnected(news.isConnected)
        else if ('stale' in news) void queries.invalidateQueries()
        else for (const listener of listeners) listener(JSON.parse(news.event) as LiveEvent)
      }),
    [organization.id, member.id, from, listeners, queries],
  )
  return (
    <Listeners.Provider value={listeners}>
      <Connected.Provider value={isConnected}>{children}</Connected.Provider>
    </Listeners.Provider>
  )
}

/** Calls `listener` (always the newest one given) with every event from now on. */
export function useLive(listener: Listener): void {
  const listeners = useContext(Listeners)
  const newest = useRef(listener)
  useEffect(() => {
    newest.current = listener
  })
  useEffect(() => {
    const hear: Listener = (event) => newest.current(event)
    listeners.add(hear)
    return () => void listeners.delete(hear)
  }, [listeners])
}

/** Whether events come in at the moment. */
export const useIsLive = (): boolean => useContext(Connected)
