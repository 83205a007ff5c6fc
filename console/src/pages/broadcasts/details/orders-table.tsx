import { Center, Pagination, Stack } from '@mantine/core'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { analytics } from '../../../i18n/en/analytics.js'
import { useFormat } from '../../../shared/format.js'
import type { BroadcastFigures } from '../../analytics/data.js'
import { FigureTable } from '../../analytics/figures/figure-table.js'

type Order = BroadcastFigures['revenue']['orders'][number]

const PAGE_SIZE = 10

/** The orders of a broadcast, newest first. */
export function OrdersTable({ orders }: { orders: Order[] }) {
  const { t } = useTranslation(['analytics', 'broadcasts'])
  const { dateTime, money } = useFormat()
  const [page, setPage] = useState(1)
  const pages = Math.ceil(orders.length / PAGE_SIZE)
  return (
    <Stack gap="sm">
      <FigureTable
        caption={t('revenue.orders')}
        rows={orders.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
        rowKey={({ orderName, orderDate }) => `${orderName} ${orderDate}`}
        minWidth={520}
        columns={[
          { key: 'order', label: t('revenue.order'), value: ({ orderName }) => orderName },
          {
            key: 'date',
            label: t('revenue.date'),
            value: ({ orderDate }) => orderDate,
            show: ({ orderDate }) => dateTime(orderDate),
          },
          {
            key: 'payment',
            label: t('revenue.payment'),
            value: ({ financialStatus }) => payment(t, financialStatus),
          },
          {
            key: 'attributed',
            label: t('revenue.dueToThis'),
            value: ({ attributed }) => t(attributed ? 'revenue.yes' : 'revenue.no'),
          },
          { key: 'campaign', label: t('revenue.campaign'), value: ({ utmCampaign }) => utmCampaign ?? '' },
          {
            key: 'price',
            label: t('revenue.price'),
            value: ({ totalPrice }) => totalPrice,
            show: ({ totalPrice, currency }) => money(totalPrice, currency),
          },
        ]}
      />
      {pages > 1 && (
        <Center>
          <Pagination
            size="sm"
            total={pages}
            value={page}
            onChange={setPage}
            getItemProps={(number) => ({ 'aria-label': t('page', { ns: 'broadcasts', page: number }) })}
            getControlProps={(control) => ({ 'aria-label': t(`pages.${control}`, { ns: 'broadcasts' }) })}
          />
        </Center>
      )}
    </Stack>
  )
}

type Payment = keyof typeof analytics.revenue.payments

const PAYMENTS: readonly Payment[] = [
  'paid',
  'pending',
  'authorized',
  'partially_paid',
  'refunded',
  'partially_refunded',
  'voided',
]

function payment(t: TFunction<['analytics', 'broadcasts']>, status: string | null): string {
  const known = PAYMENTS.find((one) => one === status?.toLowerCase())
  return known ? t(`revenue.payments.${known}`) : (status ?? '')
}
