import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Waiting } from '../../../layout/waiting.js'
import { LoadProblem } from '../../../shared/problem.js'

/** Shows what a query found. What was found once stays when it is asked for again in vain: somebody may be typing in it. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: UseQueryResult<Data>
  children: (data: Data) => ReactNode
}) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  return <Waiting />
}
