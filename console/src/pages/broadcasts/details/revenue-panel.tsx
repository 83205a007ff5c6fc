import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { apiUrl } from '../../../api/client.js'
import { useFormat } from '../../../shared/format.js'
import type { BroadcastFigures } from '../../analytics/data.js'
import { ExportLink } from '../../analytics/export-link.js'
import { Panel } from '../../analytics/figures/panel.js'
import { Tile, Tiles } from '../../analytics/figures/tile.js'
import { OrdersTable } from './orders-table.js'

/** The revenue and orders of a broadcast. */
export function RevenuePanel({ id, figures }: { id: string; figures: BroadcastFigures }) {
  const { t } = useTranslation('analytics')
  const { revenue, deliveryStats } = figures
  const { utmCampaign, orders } = revenue
  if (utmCampaign === null || orders.length === 0) {
    return (
      <Panel title={t('revenue.title')}>
        <Text c="dimmed">{t(utmCampaign === null ? 'revenue.noCampaign' : 'revenue.none')}</Text>
      </Panel>
    )
  }
  return (
    <Panel
      title={t('revenue.title')}
      description={t('revenue.hint', { campaign: utmCampaign, count: revenue.attributed.window_days })}
      actions={
        <ExportLink
          href={apiUrl('/analytics/export', { table: 'orders', broadcast_id: id })}
          of={t('revenue.orders')}
        />
      }
    >
      <Stack gap="md">
        <RevenueTiles revenue={revenue} reached={deliveryStats.delivered} />
        <OrdersTable orders={orders} />
      </Stack>
    </Panel>
  )
}

function RevenueTiles({ revenue, reached }: { revenue: BroadcastFigures['revenue']; reached: number }) {
  const { t } = useTranslation('analytics')
  const { money, number } = useFormat()
  const { currency, totalRevenue, orderCount, attributed, otherCurrencies } = revenue
  return (
    <Tiles label={t('revenue.title')}>
      <Tile
        label={t('revenue.attributed')}
        value={money(attributed.totalRevenue, currency)}
        hint={t('revenue.count', { count: attributed.orderCount, shown: number(attributed.orderCount) })}
      />
      <Tile label={t('revenue.average')} value={money(attributed.avgOrderValue, currency)} />
      {reached > 0 && (
        <Tile label={t('revenue.perRecipient')} value={money(attributed.totalRevenue / reached, currency)} />
      )}
      <Tile
        label={t('revenue.ofCampaign')}
        value={money(totalRevenue, currency)}
        hint={t('revenue.count', { count: orderCount, shown: number(orderCount) })}
      />
      {otherCurrencies.map((other) => (
        <Tile
          key={other.currency}
          label={t('revenue.other')}
          value={money(other.totalRevenue, other.currency)}
          hint={t('revenue.otherOrders', { count: other.orderCount })}
        />
      ))}
    </Tiles>
  )
}
