import { SimpleGrid } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { BroadcastFigures } from '../../analytics/data.js'
import { Tile, Tiles } from '../../analytics/figures/tile.js'
import type { Broadcast } from '../data.js'
import { ButtonsPanel } from './buttons-panel.js'
import { FunnelPanel } from './funnel-panel.js'
import { RevenuePanel } from './revenue-panel.js'

/** What became of one broadcast, in figures. Before it begins there are none. */
export function Figures({ broadcast, figures }: { broadcast: Broadcast; figures: BroadcastFigures }) {
  if (broadcast.started_at === null) return null
  return (
    <>
      <Sums broadcast={broadcast} figures={figures} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <FunnelPanel funnel={figures.conversionFunnel} />
        <ButtonsPanel id={broadcast.id} buttons={figures.allButtons} />
      </SimpleGrid>
      <RevenuePanel id={broadcast.id} figures={figures} />
    </>
  )
}

function Sums({ broadcast, figures }: { broadcast: Broadcast; figures: BroadcastFigures }) {
  const { t } = useTranslation(['analytics', 'broadcasts'])
  const { number, percent, money } = useFormat()
  const { deliveryStats: stats, conversionFunnel: funnel, optOutAnalytics: optOuts, revenue } = figures
  const { totalRecipients: total, skippedRecipients: skipped } = broadcast
  return (
    <Tiles label={t('sums', { ns: 'broadcasts' })}>
      <Tile
        label={t('figures.recipients')}
        value={number(total)}
        hint={t('skipped', { ns: 'broadcasts', count: skipped, shown: number(skipped) })}
      />
      <Tile
        series="sent"
        label={t('figures.sent')}
        value={number(stats.sent)}
        hint={t('rates.ofRecipients', { rate: percent(shareOf(stats.sent, total)) })}
      />
      <Tile
        series="delivered"
        label={t('figures.delivered')}
        value={number(stats.delivered)}
        hint={t('rates.ofSent', { rate: percent(stats.deliveryRate) })}
      />
      <Tile
        series="read"
        label={t('figures.read')}
        value={number(stats.read)}
        hint={t('rates.ofDelivered', { rate: percent(stats.readRate) })}
      />
      <Tile
        series="failed"
        label={t('figures.failed')}
        value={number(stats.failed)}
        hint={t('rates.ofRecipients', { rate: percent(shareOf(stats.failed, total)) })}
      />
      <Tile
        series="clicked"
        label={t('figures.clicked')}
        value={number(funnel.buttonClicked)}
        hint={t('rates.ofDelivered', { rate: percent(shareOf(funnel.buttonClicked, stats.delivered)) })}
      />
      <Tile
        label={t('figures.optedOut')}
        value={number(optOuts.totalOptOuts)}
        hint={t('rates.ofDelivered', { rate: percent(optOuts.optOutRate) })}
      />
      <Tile
        label={t('revenue.title')}
        value={money(revenue.totalRevenue, revenue.currency)}
        hint={t('revenue.count', { count: revenue.orderCount, shown: number(revenue.orderCount) })}
      />
    </Tiles>
  )
}

/** In percent. */
function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : (part * 100) / whole
}
