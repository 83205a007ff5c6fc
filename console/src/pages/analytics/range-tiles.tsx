import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { RangeFigures } from './data.js'
import { CountTile } from './figures/count-tile.js'
import { Tile, Tiles } from './figures/tile.js'

/** The totals of a range. */
export function RangeTiles({ stats }: { stats: RangeFigures['overallStats'] }) {
  const { t } = useTranslation('analytics')
  const { percent, money, number } = useFormat()
  const { revenue } = stats
  const { attributed } = revenue
  const ofSent = t('rates.ofSent', { rate: percent(stats.deliveryRate) })
  const ofDelivered = t('rates.ofDelivered', { rate: percent(stats.readRate) })
  const ofRecipients = t('rates.ofRecipients', { rate: percent(stats.failureRate) })
  return (
    <Tiles label={t('sums')}>
      <CountTile figure="sent" count={stats.sent} hint={useCampaignCount(stats)} />
      <CountTile figure="delivered" count={stats.delivered} hint={ofSent} />
      <CountTile figure="read" count={stats.read} hint={ofDelivered} />
      <CountTile figure="failed" count={stats.failed} hint={ofRecipients} />
      <Tile
        label={t('revenue.attributed')}
        value={money(attributed.totalRevenue, attributed.currency)}
        hint={t('revenue.count', { count: attributed.orderCount, shown: number(attributed.orderCount) })}
      />
      <Tile
        label={t('revenue.ofCampaign')}
        value={money(revenue.totalRevenue, revenue.currency)}
        hint={t('revenue.count', { count: revenue.orderCount, shown: number(revenue.orderCount) })}
      />
    </Tiles>
  )
}

/** The kinds of campaigns. One-off sends are one for each template and day, so their number says nothing. */
function useCampaignCount({ totalCampaigns, totalBroadcasts }: RangeFigures['overallStats']): string {
  const { t } = useTranslation('analytics')
  if (totalBroadcasts === 0) return t('campaigns.oneOffSends')
  const broadcasts = t('broadcasts', { count: totalBroadcasts })
  return totalCampaigns === totalBroadcasts ? broadcasts : t('withOneOffSends', { broadcasts })
}
