import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import { useSession } from '../../../session/session.js'
import type { InboxFilter } from './fits.js'
import { type InboxPage, listContacts } from './live-updates.js'
import { useLiveUpdates } from './live-updates-provider.js'

/** Up to this many missing contacts are requested one by one; with more, the list is reloaded. */
const MAX_MISSING = 20

/** The contacts that match the filter, latest activity first, kept up to date by live events. */
export function useInbox(filter: InboxFilter, openId: string | null) {
  const { member } = useSession()
  const { latest, keep } = useLiveUpdates()
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['inbox', 'list', filter],
    queryFn: ({ pageParam, signal }) => readPage(filter, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // Live events report all later changes.
    refetchOnMount: 'always',
    refetchOnWindowFocus: false,
  })
  // With a filter that rarely matches, a page may be empty although there are more.
  const isPageEmpty = data?.pages.at(-1)?.contacts.length === 0
  useEffect(() => {
    if (isPageEmpty && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }, [isPageEmpty, hasNextPage, isFetchingNextPage, error, fetchNextPage])
  const { contacts, missing } = useMemo(
    () => listContacts(data?.pages ?? [], latest.updates, filter, { memberId: member.id, openId }),
    [data, latest, filter, member.id, openId],
  )
  const asked = useRef(new Set<string>())
  useEffect(() => {
    const wanted = missing.filter((id) => !asked.current.has(id))
    for (const id of wanted) asked.current.add(id)
    const forget = (ids: string[]) => ids.forEach((id) => void asked.current.delete(id))
    if (wanted.length > MAX_MISSING) {
      void refetch().then(() => forget(wanted))
      return
    }
    for (const id of wanted) {
      const askedAt = performance.now()
      void readContact(id).then((contact) => {
        forget([id])
        if (contact) keep(contact, askedAt)
      })
    }
  }, [missing, keep, refetch])
  const isLooking = contacts.length === 0 && hasNextPage
  return { contacts, error, isPending: isPending || isLooking, hasNextPage, isFetchingNextPage, fetchNextPage, refetch }
}

async function readPage({ view, tag, search }: InboxFilter, cursor: string | null, signal: AbortSignal) {
  const askedAt = performance.now()
  const query = { filter: view, tag, search: search.trim(), cursor }
  const page = await api.get<Omit<InboxPage, 'askedAt'>>('/inbox', query, signal)
  return { ...page, askedAt }
}

/** Null if the contact is gone or cannot be read. */
async function readContact(id: string): Promise<InboxContact | null> {
  const answer = await api.get<{ contact: InboxContact }>(`/inbox/${id}`).catch(() => null)
  return answer?.contact ?? null
}
