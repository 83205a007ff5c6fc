import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { presentAnalytics, presentBroadcastAnalytics } from '../../../../src/model/broadcasts/analytics.js'
import type { Revenue } from '../../../../src/model/broadcasts/revenue.js'
import { api } from '../../api/client.js'

/** Analytics of all campaigns in a range of days. */
export type RangeFigures = ReturnType<typeof presentAnalytics>
/** Analytics of one broadcast. */
export type BroadcastFigures = ReturnType<typeof presentBroadcastAnalytics> & { revenue: Revenue }

/** First and last day (YYYY-MM-DD), both included. */
export interface Range {
  from: string
  to: string
}

/** Query keys of analytics. */
export const FIGURES = ['figures'] as const

/** The figures of all campaigns that started in the range. */
export function useRangeFigures({ from, to }: Range) {
  return useQuery({
    queryKey: [...FIGURES, 'range', from, to],
    queryFn: ({ signal }) => ask<RangeFigures>({ start_date: from, end_date: to }, signal),
    placeholderData: keepPreviousData,
  })
}

/** The figures of one broadcast, polled every `everyMs`. */
export function useBroadcastFigures(id: string, everyMs: number | false = false) {
  return useQuery({
    queryKey: [...FIGURES, 'broadcast', id],
    queryFn: ({ signal }) => ask<BroadcastFigures>({ broadcast_id: id }, signal),
    refetchInterval: everyMs,
  })
}

async function ask<Figures>(query: Record<string, string>, signal: AbortSignal): Promise<Figures> {
  return (await api.get<{ data: Figures }>('/broadcast-analytics', query, signal)).data
}
