import { Alert, Anchor, Badge, Card, Code, Text } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link, useParams } from 'react-router'
import type { MessageTrace } from '../../../../src/model/messages/trace.js'
import { api } from '../../api/client.js'
import { Loading } from '../../layout/loading.js'
import { PageFrame } from '../../shared/page-frame.js'
import { LoadProblem } from '../../shared/problem.js'
import { statusName } from './describe.js'
import { TraceTimeline } from './trace-timeline.js'

/** What happened to one message. */
export default function MessagePage() {
  const { messageId = '' } = useParams()
  const { t } = useTranslation('trace')
  const { data, error, refetch } = useQuery({
    queryKey: ['trace', messageId],
    queryFn: ({ signal }) =>
      api.get<{ trace: MessageTrace }>(`/messages/${encodeURIComponent(messageId)}/trace`, {}, signal),
  })
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const { contact_id, status, trace_id, is_cut, entries } = data.trace
  return (
    <PageFrame
      title={t('title')}
      badge={
        <Badge color={status === 'failed' ? 'red' : 'teal'} variant="dot" tt="none">
          {statusName(status, t)}
        </Badge>
      }
      above={
        <Anchor component={Link} to={`/inbox/${contact_id}`} size="sm">
          {t('back')}
        </Anchor>
      }
      subtitle={
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          <Code>{data.trace.message_id}</Code>
          {trace_id !== null && ` ${t('fields.trace_id')}: ${trace_id}`}
        </Text>
      }
    >
      {is_cut && <Alert icon={<IconInfoCircle aria-hidden />}>{t('cut')}</Alert>}
      <Card withBorder>
        <TraceTimeline entries={entries} />
      </Card>
    </PageFrame>
  )
}
