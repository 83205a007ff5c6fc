import { Center } from '@mantine/core'
import { Suspense } from 'react'
import { Navigate, Route, Routes, useLocation } from 'react-router'
import { LiveProvider } from './api/live.js'
import { lazyPart } from './i18n/index.js'
import { Loading } from './layout/loading.js'
import { NotFound } from './layout/not-found.js'
import { Shell } from './layout/shell.js'
import { InboxPage } from './pages/inbox/page.js'
import { SessionProvider, useCurrentSession } from './session/session.js'
import { LoadProblem } from './shared/problem.js'

// The inbox is opened most; the other pages are loaded on demand.
const SignIn = lazyPart(['session'], () => import('./session/sign-in.js'))
const BroadcastsPage = lazyPart(['broadcasts', 'analytics'], () => import('./pages/broadcasts/page.js'))
const TemplatesPage = lazyPart(['templates'], () => import('./pages/templates/page.js'))
const AnalyticsPage = lazyPart(['analytics', 'broadcasts'], () => import('./pages/analytics/page.js'))
const MessagePage = lazyPart(['trace'], () => import('./pages/messages/page.js'))
const SettingsPage = lazyPart(['settings'], () => import('./pages/settings/page.js'))

/** The page: sign-in, or the pages for the signed-in member. */
export function App() {
  const { data: session, error, refetch } = useCurrentSession()
  const { pathname, hash } = useLocation()
  if (error) {
    return (
      <Center mih="100dvh">
        <LoadProblem error={error} retry={() => void refetch()} />
      </Center>
    )
  }
  if (session === undefined) return <Loading />
  // A sign-in link is used even if another member is signed in.
  const isByLink = pathname === '/sign-in' && hash !== ''
  if (session === null || isByLink) {
    return (
      <Suspense fallback={<Loading />}>
        <SignIn />
      </Suspense>
    )
  }
  return (
    <SessionProvider session={session}>
      <LiveProvider>
        <Routes>
          <Route element={<Shell />}>
            <Route index element={<Navigate to="/inbox" replace />} />
            <Route path="sign-in" element={<Navigate to="/inbox" replace />} />
            <Route path="inbox/:contactId?" element={<InboxPage />} />
            <Route path="messages/:messageId" element={<MessagePage />} />
            <Route path="broadcasts/*" element={<BroadcastsPage />} />
            <Route path="templates/*" element={<TemplatesPage />} />
            <Route path="analytics/*" element={<AnalyticsPage />} />
            <Route path="settings/*" element={<SettingsPage />} />
            <Route path="*" element={<NotFound />} />
          </Route>
        </Routes>
      </LiveProvider>
    </SessionProvider>
  )
}
