import { Anchor, Center, EmptyState, Group, Pagination, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { IconInbox } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { useFormat } from '../../../shared/format.js'
import { type Column, Listing } from '../frame/listing.js'
import { Loaded } from '../frame/loaded.js'
import { DELIVERIES, POLL_MS } from '../queries.js'
import type { Delivery, DeliveryStatus, Webhook } from '../types.js'
import { DeliveryBadge } from './delivery-badge.js'

const PAGE_SIZE = 25
const FILTERS = ['all', 'pending', 'delivered', 'failed'] as const
type Filter = (typeof FILTERS)[number]

interface DeliveryPage {
  deliveries: Delivery[]
  pagination: { totalPages: number; totalDeliveries: number }
}

/** The deliveries of a webhook, newest first. Reloads periodically. */
export function DeliveryLog({ webhook, onOpen }: { webhook: Webhook; onOpen: (delivery: Delivery) => void }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const [filter, setFilter] = useState<Filter>('all')
  const [page, setPage] = useState(1)
  const status: DeliveryStatus | null = filter === 'all' ? null : filter
  const log = useQuery({
    queryKey: [...DELIVERIES, webhook.id, status, page],
    queryFn: ({ signal }) =>
      api.get<DeliveryPage>('/webhook-deliveries', { webhook_id: webhook.id, status, page, limit: PAGE_SIZE }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  })
  const columns: Column<Delivery>[] = [
    {
      label: t('webhooks.event'),
      place: 'title',
      cell: (delivery) => (
        <Anchor component="button" type="button" size="sm" fw={600} ta="start" onClick={() => onOpen(delivery)}>
          {delivery.event_type}
        </Anchor>
      ),
    },
    { label: t('webhooks.status'), cell: ({ status: state }) => <DeliveryBadge status={state} /> },
    { label: t('webhooks.attempts'), cell: (delivery) => <LastAttempt delivery={delivery} /> },
    { label: t('webhooks.created'), cell: ({ created_at }) => <Text size="sm">{format.dateTime(created_at)}</Text> },
  ]
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('webhooks.log')}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t('webhooks.status')}
          value={filter}
          onChange={(next) => {
            setFilter(next as Filter)
            setPage(1)
          }}
          data={FILTERS.map((value) => ({ value, label: t(`webhooks.filters.${value}`) }))}
        />
      </Group>
      <Loaded query={log}>
        {({ deliveries, pagination }) =>
          deliveries.length === 0 ? (
            <EmptyState
              icon={<IconInbox aria-hidden />}
              withIndicatorBackground
              title={t(status === null ? 'webhooks.logEmpty' : 'webhooks.logNoMatch')}
              description={status === null ? t('webhooks.logEmptyHint') : undefined}
              py="xl"
            />
          ) : (
            <>
              <Listing label={t('webhooks.log')} columns={columns} rows={deliveries} />
              {pagination.totalPages > 1 && (
                <Center>
                  <Pagination
                    total={pagination.totalPages}
                    value={page}
                    onChange={setPage}
                    aria-label={t('webhooks.pages')}
                    getControlProps={(control) => ({ 'aria-label': t(`webhooks.pageControls.${control}`) })}
                  />
                </Center>
              )}
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

/** The number of attempts, and the outcome of the last one. */
function LastAttempt({ delivery: { attempts } }: { delivery: Delivery }) {
  const { t } = useTranslation('settings')
  const last = attempts.at(-1)
  if (!last) return <Text size="sm">{t('webhooks.notTried')}</Text>
  return (
    <Text size="sm">
      {t('webhooks.tried', { count: attempts.length })} · {last.response_status ?? t('webhooks.noAnswer')}
    </Text>
  )
}
