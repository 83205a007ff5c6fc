import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Loading } from '../../../layout/loading.js'
import { LoadProblem } from '../../../shared/problem.js'

/** Shows the data of a query. If a reload fails, the data stays, since someone may be typing in a form. */
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
  return <Loading />
}
