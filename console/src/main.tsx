import '@mantine/core/styles.layer.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { ApiError } from './api/client.js'
import { App } from './app.js'
import { startI18n } from './i18n/index.js'
import { ErrorBoundary } from './layout/error-boundary.js'
import { ThemeProvider } from './layout/theme-provider.js'

// Notifications and dialogs are loaded after the page itself.
const PageNotifications = lazy(() => import('./layout/notifications.js'))

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
      <ThemeProvider>
        <Suspense>
          <PageNotifications />
        </Suspense>
        <ErrorBoundary>
          <BrowserRouter basename="/console">
            <App />
          </BrowserRouter>
        </ErrorBoundary>
      </ThemeProvider>
    </QueryClientProvider>
  </StrictMode>,
)
