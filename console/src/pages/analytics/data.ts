import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { presentAnalytics, presentBroadcastAnalytics } from '../../../../src/model/broadcasts/analytics.js'
import type { Revenue } from '../../../../src/model/broadcasts/revenue.js'
import { api } from '../../api/client.js'

/** What the service tells of all campaigns of a range of days. */
export type RangeFigures = ReturnType<typeof presentAnalytics>
/** What it tells of one broadcast. */
export type BroadcastFigures = ReturnType<typeof presentBroadcastAnalytics> & { revenue: Revenue }

/** Both days (YYYY-MM-DD) are in it. */
export interface Range {
  from: string
  to: string
}

/** All queries of figures. */
export const FIGURES = ['figures'] as const

/** The figures of all campaigns that began on the days. */
export function useRangeFigures({ from, to }: Range) {
  return useQuery({
    queryKey: [...FIGURES, 'range', from, to],
    queryFn: ({ signal }) => ask<RangeFigures>({ start_date: from, end_date: to }, signal),
    placeholderData: keepPreviousData,
  })
}

/** The figures of one broadcast; asked for again every `everyMs`. */
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
