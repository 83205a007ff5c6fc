import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.js'

/** A tag, with the number of contacts that have it. */
export interface Tag {
  tag: string
  count: number
}

/** The organization's tags, most used first. */
export function useTags(): Tag[] {
  const { data } = useQuery({
    queryKey: ['tags'],
    queryFn: ({ signal }) => api.get<{ tags: Tag[] }>('/tags', {}, signal),
  })
  return data?.tags ?? []
}
