import { EmptyState, Title } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { lazy, Suspense, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Navigate, Route, Routes } from 'react-router'
import { Loading } from '../../layout/loading.js'
import { NotFound } from '../../layout/not-found.js'
import { useIsPhone } from '../../layout/use-is-phone.js'
import { useMay } from '../../session/session.js'
import { InstancesSection } from './instances/section.js'
import { KeysSection } from './keys/section.js'
import { SectionNav, SectionSelect } from './nav.js'
import { NumberSection } from './number/section.js'
import { OrganizationSection } from './organization/section.js'
import classes from './page.module.css'
import { StorefrontSection } from './storefront/section.js'
import { TeamSection } from './team/section.js'
import { WebhooksSection } from './webhooks/section.js'

// Loaded only when it is opened.
const WebhookDetail = lazy(() => import('./webhooks/detail.js'))

/** `/settings`: the settings of the organization, for owners. */
export default function SettingsPage() {
  const isPhone = useIsPhone()
  if (!useMay('owner')) return <OwnersOnly />
  return (
    <div className={classes.page}>
      {isPhone ? <SectionSelect /> : <SectionNav />}
      <div className={classes.content}>
        <Suspense fallback={<Loading />}>
          <Routes>
            <Route index element={<Navigate to="organization" replace />} />
            <Route path="organization" element={<OrganizationSection />} />
            <Route path="team" element={<TeamSection />} />
            <Route path="number" element={<NumberSection />} />
            <Route path="instances" element={<InstancesSection />} />
            <Route path="storefront" element={<StorefrontSection />} />
            <Route path="keys" element={<KeysSection />} />
            <Route path="webhooks" element={<WebhooksSection />} />
            <Route path="webhooks/:webhookId/:deliveryId?" element={<WebhookDetail />} />
            <Route path="*" element={<NotFound />} />
          </Routes>
        </Suspense>
      </div>
    </div>
  )
}

function OwnersOnly() {
  const { t } = useTranslation('settings')
  useEffect(() => {
    document.title = `${t('title')} · Parley`
  }, [t])
  return (
    <EmptyState m="auto" p="md" maw={480} icon={<IconLock aria-hidden />} withIndicatorBackground>
      <EmptyState.Title>
        <Title order={1} size="h3">
          {t('ownersOnly.title')}
        </Title>
      </EmptyState.Title>
      <EmptyState.Description>{t('ownersOnly.hint')}</EmptyState.Description>
    </EmptyState>
  )
}
