import '@mantine/core/styles.layer.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { ApiError } from './api/client.js'
import { App } from './app.js'
import { startI18n } from './i18n/index.js'
import { Crash } from './layout/crash.js'
import { Look } from './layout/look.js'

// Notifications and dialogs are loaded after the page itself.
const Notices = lazy(() => import('./layout/notices.js'))

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // An error of the service is not retried: it would fail again.
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
})

await startI18n()
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Look>
        <Suspense>
          <Notices />
        </Suspense>
        <Crash>
          <BrowserRouter basename="/console">
            <App />
          </BrowserRouter>
        </Crash>
      </Look>
    </QueryClientProvider>
  </StrictMode>,
)
