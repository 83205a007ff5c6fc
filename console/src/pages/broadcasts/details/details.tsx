import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconArrowLeft } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, useParams } from 'react-router'
import { Loading } from '../../../layout/loading.js'
import { useFormat } from '../../../shared/format.js'
import { PageFrame } from '../../../shared/page-frame.js'
import { LoadProblem } from '../../../shared/problem.js'
import { useBroadcastFigures } from '../../analytics/data.js'
import { type Broadcast, pollOf, useBroadcast } from '../data.js'
import { pauseReason } from '../pause-reason.js'
import { BroadcastProgress } from '../progress.js'
import { StatusBadge } from '../status-badge.js'
import { Actions } from './actions.js'
import { Figures } from './figures.js'
import { Recipients } from './recipients.js'

/** A broadcast with its status and figures. */
export default function Details() {
  const { id = '' } = useParams()
  const { data: broadcast, error, refetch } = useBroadcast(id)
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  if (!broadcast) return <Loading />
  return <Loaded broadcast={broadcast} />
}

function Loaded({ broadcast }: { broadcast: Broadcast }) {
  const { t } = useTranslation('broadcasts')
  const { data: figures, error, refetch } = useBroadcastFigures(broadcast.id, pollOf(broadcast))
  const { status, reason } = broadcast
  return (
    <PageFrame
      title={broadcast.name}
      above={
        <Anchor component={Link} to="/broadcasts" size="sm">
          <IconArrowLeft aria-hidden size={14} /> {t('title')}
        </Anchor>
      }
      badge={
        <span role="status">
          <StatusBadge status={status} />
        </span>
      }
      subtitle={<Facts broadcast={broadcast} />}
      actions={<Actions broadcast={broadcast} />}
    >
      {status === 'paused' && reason !== null && (
        <Alert color="orange" icon={<IconAlertTriangle aria-hidden />} title={t('pausedAutomatically')}>
          {pauseReason(t, reason)}
        </Alert>
      )}
      {(status === 'running' || status === 'paused') && <BroadcastProgress broadcast={broadcast} size="lg" />}
      {error && <LoadProblem error={error} retry={() => void refetch()} />}
      <Stack gap="lg">
        {figures && <Figures broadcast={broadcast} figures={figures} />}
        <Recipients broadcast={broadcast} figures={figures} />
      </Stack>
    </PageFrame>
  )
}

function Facts({ broadcast }: { broadcast: Broadcast }) {
  const { t } = useTranslation('broadcasts')
  const { dateTime } = useFormat()
  const { templateName, language, status, scheduled_at, started_at, completed_at, created_at } = broadcast
  const moments = [
    started_at === null &&
      scheduled_at !== null &&
      completed_at === null &&
      t('moments.scheduled', { at: dateTime(scheduled_at) }),
    started_at !== null && t('moments.started', { at: dateTime(started_at) }),
    completed_at !== null &&
      t(status === 'cancelled' ? 'moments.cancelled' : 'moments.completed', { at: dateTime(completed_at) }),
    started_at === null && scheduled_at === null && t('moments.created', { at: dateTime(created_at) }),
  ].filter((moment) => moment !== false)
  return (
    <Text size="sm" c="dimmed">
      {[`${templateName} (${language})`, ...moments].join(' · ')}
    </Text>
  )
}
