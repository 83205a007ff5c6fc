import { useQuery } from '@tanstack/react-query'
import { api } from '../../../api/client.js'
import { FIGURES, type RangeFigures } from '../../analytics/data.js'
import type { Broadcast } from '../data.js'

export type ListFigures = RangeFigures['campaignPerformance'][number]

const DAY_MS = 86_400_000
/** The longest range of the service's analytics, in days. */
const LONGEST_DAYS = 3_660

/** The figures of finished broadcasts, by id, from one request for the days on which they started. */
export function useListFigures(broadcasts: Broadcast[]): ReadonlyMap<string, ListFigures> {
  const range = rangeOf(broadcasts)
  const { data } = useQuery({
    queryKey: [...FIGURES, 'list', range],
    enabled: range !== null,
    queryFn: async ({ signal }) => {
      const answer = await api.get<{ data: RangeFigures }>('/broadcast-analytics', range ?? {}, signal)
      return answer.data.campaignPerformance
    },
  })
  return new Map(data?.flatMap((campaign) => (campaign.broadcastId === null ? [] : [[campaign.broadcastId, campaign]])))
}

/** Days count in the organization's time zone: one more day at each end includes them all. */
function rangeOf(broadcasts: Broadcast[]): { start_date: string; end_date: string } | null {
  const starts = broadcasts.flatMap(({ started_at }) => (started_at === null ? [] : [Date.parse(started_at)]))
  if (starts.length === 0) return null
  const last = Math.max(...starts) + DAY_MS
  const first = Math.max(Math.min(...starts) - DAY_MS, last - (LONGEST_DAYS - 1) * DAY_MS)
  return { start_date: toDay(first), end_date: toDay(last) }
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
