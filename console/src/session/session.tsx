import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { ApiError, actAs, api, SIGNED_OUT } from '../api/client.js'
import type { Member, Role, Session } from '../api/types.js'

/** The query of the session. */
export const SESSION = ['session'] as const

/** The last signed-in member on this page. */
let last: string | null = null

/** Clears all loaded data after a sign-out. Drafts stay for the same member. */
export function clearSession(queries: QueryClient): void {
  actAs(null)
  queries.setQueryData(SESSION, null)
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] })
}

/**
 * Starts a member's session. If another member was signed in before, the page is reloaded without any of their data.
 */
export function beginSession(queries: QueryClient, session: Session): void {
  if (last !== null && last !== session.member.id) {
    startOver()
    return
  }
  remember(session)
  queries.setQueryData(SESSION, session)
}

/** Reloads the page at its start. */
export function startOver(): void {
  window.location.replace('/console/')
}

function remember({ member }: Session): void {
  last = member.id
  actAs(member.id)
}

/** The session: `undefined` while it loads, null if signed out. */
export function useCurrentSession() {
  const queries = useQueryClient()
  useEffect(() => {
    const forget = () => clearSession(queries)
    window.addEventListener(SIGNED_OUT, forget)
    return () => window.removeEventListener(SIGNED_OUT, forget)
  }, [queries])
  return useQuery({
    queryKey: SESSION,
    queryFn: ({ signal }) => readSession(signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

async function readSession(signal: AbortSignal): Promise<Session | null> {
  try {
    const { session } = await api.get<{ session: Session }>('/session', {}, signal)
    remember(session)
    return session
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

const Current = createContext<Session | null>(null)

/** Provides the session. */
export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <Current.Provider value={session}>{children}</Current.Provider>
}

/** The session. Only below SessionProvider. */
export function useSession(): Session {
  const session = useContext(Current)
  if (!session) throw new Error('There is no session here')
  return session
}

const RANKS: Record<Role, number> = { analyst: 0, agent: 1, owner: 2 }

/** Whether the member's role includes this one. */
export function useMay(role: Role): boolean {
  return RANKS[useSession().member.role] >= RANKS[role]
}

/** The organization's team, by id. */
export function useTeam(): { members: Member[]; byId: Map<string, Member> } {
  const { data } = useQuery({
    queryKey: ['team'],
    queryFn: ({ signal }) => api.get<{ members: Member[] }>('/team', {}, signal),
    staleTime: 60_000,
  })
  const members = data?.members ?? []
  return { members, byId: new Map(members.map((member) => [member.id, member])) }
}
