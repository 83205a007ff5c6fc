import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import type { presentBroadcast, presentRecipient, RecipientStatus } from '../../../../src/model/broadcasts/broadcast.js'
import { api } from '../../api/client.js'
import { useLive } from '../../api/live.js'
import { FIGURES } from '../analytics/data.js'

export type Broadcast = ReturnType<typeof presentBroadcast>
export type Recipient = ReturnType<typeof presentRecipient>
export type { RecipientStatus }

/** Query keys of broadcasts and recipients. */
export const BROADCASTS = ['broadcasts'] as const
export const PAGE_SIZE = 20
export const RECIPIENTS_PAGE_SIZE = 50
/** Polling interval while a broadcast is sent and the page is visible. */
const POLL_MS = 2_000
/** Polling interval after a broadcast, while statuses and replies arrive. */
const AFTERWARDS_POLL_MS = 5_000
/** How long a reply can count as an opt-out. */
const AFTERWARDS_MS = 48 * 60 * 60 * 1_000

/** A page of a list. */
interface Pages {
  totalPages: number
}

/** Whether the broadcast changes while it is shown. */
export function isMoving(status: Broadcast['status'] | undefined): boolean {
  return status === 'running'
}

/** A page of the broadcasts, newest first. */
export function useBroadcasts(page: number) {
  return useQuery({
    queryKey: [...BROADCASTS, 'list', page],
    queryFn: ({ signal }) =>
      api.get<{ broadcasts: Broadcast[]; pagination: Pages }>('/broadcasts', { page, limit: PAGE_SIZE }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.broadcasts.some(({ status }) => isMoving(status)) ? POLL_MS : false),
  })
}

/** One broadcast. */
export function useBroadcast(id: string) {
  return useQuery({
    queryKey: [...BROADCASTS, 'one', id],
    queryFn: async ({ signal }) => (await api.get<{ broadcast: Broadcast }>(`/broadcasts/${id}`, {}, signal)).broadcast,
    refetchInterval: ({ state }) => pollOf(state.data),
  })
}

/** Polling interval for the figures of a broadcast. */
export function pollOf(broadcast: Pick<Broadcast, 'status' | 'completed_at'> | undefined): number | false {
  if (isMoving(broadcast?.status)) return POLL_MS
  const ended = broadcast?.completed_at ? Date.parse(broadcast.completed_at) : null
  return ended !== null && Date.now() - ended < AFTERWARDS_MS ? AFTERWARDS_POLL_MS : false
}

/** A page of a broadcast's recipients, in order. */
export function useRecipients(broadcast: Broadcast, status: RecipientStatus | null, page: number) {
  return useQuery({
    queryKey: [...BROADCASTS, 'recipients', broadcast.id, status, page],
    queryFn: ({ signal }) => readRecipients(broadcast.id, { status, page, limit: RECIPIENTS_PAGE_SIZE }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: pollOf(broadcast),
  })
}

/** The number of recipients who are still pending. */
export function usePending(broadcast: Broadcast) {
  const { id } = broadcast
  return useQuery({
    queryKey: [...BROADCASTS, 'pending', id],
    queryFn: async ({ signal }) => {
      const { pagination } = await readRecipients(id, { status: 'pending', limit: 1 }, signal)
      return pagination.totalRecipients
    },
    refetchInterval: pollOf(broadcast),
  })
}

function readRecipients(id: string, query: Record<string, string | number | null>, signal: AbortSignal) {
  return api.get<{ recipients: Recipient[]; pagination: Pages & { totalRecipients: number } }>(
    `/broadcasts/${id}/recipients`,
    query,
    signal,
  )
}

/** Reloads broadcasts and their figures when one starts or ends. */
export function useLiveBroadcasts(): void {
  const queries = useQueryClient()
  useLive(({ type }) => {
    if (!type.startsWith('broadcast.')) return
    void queries.invalidateQueries({ queryKey: BROADCASTS })
    void queries.invalidateQueries({ queryKey: FIGURES })
  })
}
