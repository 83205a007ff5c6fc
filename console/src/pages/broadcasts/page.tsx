import { ModalsProvider } from '@mantine/modals'
import { lazy, Suspense } from 'react'
import { Navigate, Route, Routes } from 'react-router'
import { Loading } from '../../layout/loading.js'
import { NotFound } from '../../layout/not-found.js'
import { useMay } from '../../session/session.js'
import { useLiveBroadcasts } from './data.js'
import { BroadcastList } from './list/list.js'

const Compose = lazy(() => import('./compose/compose.js'))
const Details = lazy(() => import('./details/details.js'))

/** `/broadcasts`: the list, a new broadcast, and a broadcast's details. */
export default function BroadcastsPage() {
  const maySend = useMay('agent')
  useLiveBroadcasts()
  return (
    <ModalsProvider>
      <Suspense fallback={<Loading />}>
        <Routes>
          <Route index element={<BroadcastList />} />
          <Route path="new" element={maySend ? <Compose /> : <Navigate to="/broadcasts" replace />} />
          <Route path=":id" element={<Details />} />
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Suspense>
    </ModalsProvider>
  )
}
