import { SimpleGrid } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { BroadcastFigures } from '../../analytics/data.js'
import { CountTile } from '../../analytics/figures/count-tile.js'
import { Tile, Tiles } from '../../analytics/figures/tile.js'
import type { Broadcast } from '../data.js'
import { ButtonsPanel } from './buttons-panel.js'
import { FunnelPanel } from './funnel-panel.js'
import { RevenuePanel } from './revenue-panel.js'

/** The figures of a broadcast. None before it starts. */
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
  const ofRecipients = (count: number) => t('rates.ofRecipients', { rate: percent(shareOf(count, total)) })
  const ofDelivered = (rate: number) => t('rates.ofDelivered', { rate: percent(rate) })
  return (
    <Tiles label={t('sums', { ns: 'broadcasts' })}>
      <Tile
        label={t('figures.recipients')}
        value={number(total)}
        hint={t('skipped', { ns: 'broadcasts', count: skipped, shown: number(skipped) })}
      />
      <CountTile figure="sent" count={stats.sent} hint={ofRecipients(stats.sent)} />
      <CountTile
        figure="delivered"
        count={stats.delivered}
        hint={t('rates.ofSent', { rate: percent(stats.deliveryRate) })}
      />
      <CountTile figure="read" count={stats.read} hint={ofDelivered(stats.readRate)} />
      <CountTile figure="failed" count={stats.failed} hint={ofRecipients(stats.failed)} />
      <CountTile
        figure="clicked"
        count={funnel.buttonClicked}
        hint={ofDelivered(shareOf(funnel.buttonClicked, stats.delivered))}
      />
      <Tile label={t('figures.optedOut')} value={number(optOuts.totalOptOuts)} hint={ofDelivered(optOuts.optOutRate)} />
      <Tile
        label={t('revenue.title')}
        value={money(revenue.attributed.totalRevenue, revenue.currency)}
        hint={t('revenue.count', {
          count: revenue.attributed.orderCount,
          shown: number(revenue.attributed.orderCount),
        })}
      />
    </Tiles>
  )
}

/** In percent. */
function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : (part * 100) / whole
}
