import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api } from '../../../../api/client.js'
import { useLive } from '../../../../api/live.js'
import type { Connecting } from '../../types.js'
import { instancePath } from '../path.js'

const CODE_POLL_MS = 2_000

/** Connects an instance: requests codes until a phone has linked. Starts at once. */
export function useConnecting(name: string) {
  const queries = useQueryClient()
  const queryKey = ['instance-code', name]
  const connect = useMutation({
    mutationFn: (number: string) =>
      api.post<Connecting>(instancePath(name, '/connect'), number === '' ? {} : { number }),
    onSuccess: (answer) => queries.setQueryData(queryKey, answer),
  })
  const { mutate } = connect
  useEffect(() => mutate(''), [mutate])
  const newest = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<Connecting>(instancePath(name, '/code'), {}, signal),
    // The first code is in the answer to the request; later ones are polled.
    enabled: connect.isSuccess,
    refetchInterval: ({ state }) => (state.data?.instance.state === 'open' ? false : CODE_POLL_MS),
    staleTime: CODE_POLL_MS,
    gcTime: 0,
  })
  useLive(({ type, instance }) => {
    if (type.startsWith('instance.') && instance?.name === name && connect.isSuccess) void newest.refetch()
  })
  return {
    /** Requests another code; with a number, one to enter on the phone. */
    connect: mutate,
    isConnecting: connect.isPending,
    error: connect.error ?? newest.error,
    newest: newest.data ?? null,
  }
}
