import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { RangeFigures } from './data.js'
import { Tile, Tiles } from './figures/tile.js'

/** The sums of a range. */
export function RangeTiles({ stats }: { stats: RangeFigures['overallStats'] }) {
  const { t } = useTranslation('analytics')
  const { number, percent } = useFormat()
  return (
    <Tiles label={t('sums')}>
      <Tile
        series="sent"
        label={t('figures.sent')}
        value={number(stats.sent)}
        hint={t('ofCampaigns', { count: stats.totalCampaigns })}
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
        hint={t('rates.ofRecipients', { rate: percent(stats.failureRate) })}
      />
    </Tiles>
  )
}
