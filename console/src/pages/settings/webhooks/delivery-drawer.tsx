import { Button, Code, DataList, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import { IconRepeat } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { useFormat } from '../../../shared/format.js'
import { notifyDone, notifyError } from '../../../shared/problem.js'
import { Loaded } from '../frame/loaded.js'
import { DELIVERIES, POLL_MS } from '../queries.js'
import type { Delivery } from '../types.js'
import { AttemptList } from './attempt-list.js'
import { DeliveryBadge } from './delivery-badge.js'
import classes from './payload.module.css'

interface Shown {
  delivery: Delivery
  /** Null: no longer stored, or its contact was erased. */
  body: Record<string, unknown> | null
}

/** A delivery with its attempts and payload. Null closes the drawer. */
export function DeliveryDrawer({ deliveryId, onClose }: { deliveryId: string | null; onClose: () => void }) {
  const { t } = useTranslation('settings')
  return (
    <Drawer opened={deliveryId !== null} onClose={onClose} position="right" size="lg" title={t('webhooks.delivery')}>
      {deliveryId && <DeliveryView id={deliveryId} />}
    </Drawer>
  )
}

function DeliveryView({ id }: { id: string }) {
  const query = useQuery({
    queryKey: [...DELIVERIES, 'one', id],
    queryFn: ({ signal }) => api.get<Shown>(`/webhook-deliveries/${id}`, {}, signal),
    // Finished deliveries do not change.
    refetchInterval: ({ state }) => (state.data && state.data.delivery.status !== 'pending' ? false : POLL_MS),
  })
  return <Loaded query={query}>{(shown) => <ShownDelivery {...shown} />}</Loaded>
}

function ShownDelivery({ delivery, body }: Shown) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const queries = useQueryClient()
  const replay = useMutation({
    mutationFn: () => api.post(`/webhook-deliveries/${delivery.id}/replay`),
    onSuccess: () => {
      notifyDone(t('webhooks.replayedOne'))
      return queries.invalidateQueries({ queryKey: DELIVERIES })
    },
    onError: (error) => notifyError(error),
  })
  return (
    <Stack>
      <Group justify="space-between">
        <Group gap="sm">
          <Title order={2} size="h4">
            {delivery.event_type}
          </Title>
          <DeliveryBadge status={delivery.status} />
        </Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRepeat size={16} aria-hidden />}
          onClick={() => replay.mutate()}
          loading={replay.isPending}
        >
          {t('webhooks.replay')}
        </Button>
      </Group>
      <DataList gap={6}>
        <DataList.Item>
          <DataList.ItemLabel>{t('webhooks.created')}</DataList.ItemLabel>
          <DataList.ItemValue>{format.dateTime(delivery.created_at)}</DataList.ItemValue>
        </DataList.Item>
        <DataList.Item>
          <DataList.ItemLabel>webhook-id</DataList.ItemLabel>
          <DataList.ItemValue className={classes.id}>{delivery.event_id}</DataList.ItemValue>
        </DataList.Item>
        {delivery.status === 'pending' && (
          <DataList.Item>
            <DataList.ItemLabel>{t('webhooks.next')}</DataList.ItemLabel>
            <DataList.ItemValue>
              {delivery.next_attempt_at ? format.dateTime(delivery.next_attempt_at) : t('webhooks.waits')}
            </DataList.ItemValue>
          </DataList.Item>
        )}
      </DataList>
      <Title order={3} size="h5">
        {t('webhooks.attempts')}
      </Title>
      <AttemptList attempts={delivery.attempts} />
      <Title order={3} size="h5">
        {t('webhooks.payload')}
      </Title>
      {body ? (
        <Code block className={classes.payload} tabIndex={0} aria-label={t('webhooks.payload')} role="region">
          {JSON.stringify(body, null, 2)}
        </Code>
      ) : (
        <Text size="sm" c="dimmed">
          {t('webhooks.noPayload')}
        </Text>
      )}
    </Stack>
  )
}
