import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { presentScheduled } from '../../../../../src/model/messages/scheduled.js'
import { api } from '../../../api/client.js'
import { useLive } from '../../../api/live.js'

/** A message that is to be sent later. */
export type Scheduled = ReturnType<typeof presentScheduled>

interface Waiting {
  scheduled: Scheduled[]
  pagination: { totalScheduled: number }
}

/** A message may be paused without an event. */
const REFETCH_MS = 60_000
const PAGE = 100

/** The messages to a contact that are to be sent later, the next one first, and their number. */
export function useScheduled(contactId: string): { scheduled: Scheduled[]; total: number } {
  const queries = useQueryClient()
  const queryKey = ['scheduled', contactId]
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<Waiting>('/scheduled', { contact_id: contactId, limit: PAGE }, signal),
    refetchInterval: ({ state }) => (state.data?.scheduled.length ? REFETCH_MS : false),
  })
  useLive(({ type, contact_id, message }) => {
    if (contact_id !== contactId) return
    if (type === 'message.scheduled' || type === 'scheduled.cancelled') void queries.invalidateQueries({ queryKey })
    // A sent message shows before its row says so.
    if (message) queries.setQueryData<Waiting>(queryKey, (now) => now && without(now, message.id))
  })
  return { scheduled: data?.scheduled ?? [], total: data?.pagination.totalScheduled ?? 0 }
}

function without(now: Waiting, id: string): Waiting {
  const scheduled = now.scheduled.filter((one) => one.id !== id)
  const gone = now.scheduled.length - scheduled.length
  return gone === 0 ? now : { scheduled, pagination: { totalScheduled: now.pagination.totalScheduled - gone } }
}
