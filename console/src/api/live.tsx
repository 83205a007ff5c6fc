import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import type { LiveEvent } from '../../../src/model/conversations/inbox.js'
import { useSession } from '../session/session.js'
import { openLiveStream } from './live-stream.js'

type Listener = (event: LiveEvent) => void

const Listeners = createContext<Set<Listener>>(new Set())
const Connected = createContext(true)

/** Receives live events while the page is open. When too many were missed, all queries are reloaded. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [listeners] = useState(() => new Set<Listener>())
  const [isConnected, setConnected] = useState(true)
  const { member, organization, live_from } = useSession()
  const queries = useQueryClient()
  // Later reads of the session return a newer position, but the stream has started already.
  const [from] = useState(live_from)
  useEffect(
    () =>
      openLiveStream({ organizationId: organization.id, memberId: member.id, from }, (message) => {
        if ('isConnected' in message) setConnected(message.isConnected)
        else if ('stale' in message) void queries.invalidateQueries()
        else for (const listener of listeners) listener(JSON.parse(message.event) as LiveEvent)
      }),
    [organization.id, member.id, from, listeners, queries],
  )
  return (
    <Listeners.Provider value={listeners}>
      <Connected.Provider value={isConnected}>{children}</Connected.Provider>
    </Listeners.Provider>
  )
}

/** Calls the latest `listener` with every live event. */
export function useLive(listener: Listener): void {
  const listeners = useContext(Listeners)
  const newest = useRef(listener)
  useEffect(() => {
    newest.current = listener
  })
  useEffect(() => {
    const onEvent: Listener = (event) => newest.current(event)
    listeners.add(onEvent)
    return () => void listeners.delete(onEvent)
  }, [listeners])
}

/** Whether the live stream is connected. */
export const useIsLive = (): boolean => useContext(Connected)
