import { Button, Center, Chip, Group, Pagination, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiUrl } from '../../../api/client.js'
import { Loading } from '../../../layout/loading.js'
import { useFormat } from '../../../shared/format.js'
import { LoadProblem } from '../../../shared/problem.js'
import type { BroadcastFigures } from '../../analytics/data.js'
import { Panel } from '../../analytics/figures/panel.js'
import { type Broadcast, type RecipientStatus, usePending, useRecipients } from '../data.js'
import { Retry } from './actions.js'
import { RecipientsTable } from './recipients-table.js'

const STATUSES = ['pending', 'sent', 'delivered', 'read', 'failed', 'skipped'] as const

/** The recipients of a broadcast, with their status. */
export function Recipients({ broadcast, figures }: { broadcast: Broadcast; figures: BroadcastFigures | undefined }) {
  const { t } = useTranslation('broadcasts')
  const [status, setStatus] = useState<RecipientStatus | null>(null)
  const [page, setPage] = useState(1)
  const { data, error, isPending, refetch } = useRecipients(broadcast, status, page)
  const choose = (chosen: string) => {
    setStatus(STATUSES.find((one) => one === chosen) ?? null)
    setPage(1)
  }
  return (
    <Panel
      title={t('recipientsTitle')}
      actions={
        <>
          <Retry broadcast={broadcast} failed={figures?.deliveryStats.failed ?? 0} />
          <Button
            component="a"
            href={apiUrl(`/broadcasts/${broadcast.id}/recipients`, { format: 'csv', status })}
            download
            variant="default"
            size="xs"
            leftSection={<IconDownload aria-hidden size={16} />}
            aria-label={t('downloadRecipients')}
          >
            CSV
          </Button>
        </>
      }
    >
      <Filter broadcast={broadcast} figures={figures} status={status} onChoose={choose} />
      {error && <LoadProblem error={error} retry={() => void refetch()} />}
      {isPending && <Loading />}
      {data && data.recipients.length > 0 && <RecipientsTable recipients={data.recipients} />}
      {data && data.recipients.length === 0 && <Text c="dimmed">{t('noRecipients')}</Text>}
      {data && data.pagination.totalPages > 1 && (
        <Center>
          <Pagination
            size="sm"
            total={data.pagination.totalPages}
            value={page}
            onChange={setPage}
            getItemProps={(number) => ({ 'aria-label': t('page', { page: number }) })}
            getControlProps={(control) => ({ 'aria-label': t(`pages.${control}`) })}
          />
        </Center>
      )}
    </Panel>
  )
}

interface FilterProps {
  broadcast: Broadcast
  figures: BroadcastFigures | undefined
  status: RecipientStatus | null
  onChoose: (status: string) => void
}

function Filter({ broadcast, figures, status, onChoose }: FilterProps) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  const { data: pending } = usePending(broadcast)
  const counts = figures && pending !== undefined ? countByStatus(broadcast, figures, pending) : null
  const all = broadcast.totalRecipients + broadcast.skippedRecipients
  return (
    <Chip.Group value={status ?? ''} onChange={onChoose}>
      <Group gap="xs" role="radiogroup" aria-label={t('filter')}>
        <Chip value="" size="xs">
          {t('all')} {number(all)}
        </Chip>
        {STATUSES.filter((one) => counts === null || counts[one] > 0 || one === status).map((one) => (
          <Chip key={one} value={one} size="xs">
            {t(`recipientStatuses.${one}`)} {counts && number(counts[one])}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}

/** The number of recipients in each status. Other figures count read recipients as delivered too; these do not. */
function countByStatus(
  { totalRecipients: total, skippedRecipients: skipped }: Broadcast,
  { deliveryStats: { delivered, read, failed } }: BroadcastFigures,
  pending: number,
): Record<RecipientStatus, number> {
  // Never negative: the figures come from separate requests, between which a recipient may change status.
  const sent = Math.max(0, total - pending - delivered - failed)
  return { pending, sent, delivered: delivered - read, read, failed, skipped }
}
