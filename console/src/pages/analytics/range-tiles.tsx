import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { RangeFigures } from './data.js'
import { CountTile } from './figures/count-tile.js'
import { Tiles } from './figures/tile.js'

/** The sums of a range. */
export function RangeTiles({ stats }: { stats: RangeFigures['overallStats'] }) {
  const { t } = useTranslation('analytics')
  const { percent } = useFormat()
  const ofSent = t('rates.ofSent', { rate: percent(stats.deliveryRate) })
  const ofDelivered = t('rates.ofDelivered', { rate: percent(stats.readRate) })
  const ofRecipients = t('rates.ofRecipients', { rate: percent(stats.failureRate) })
  return (
    <Tiles label={t('sums')}>
      <CountTile figure="sent" count={stats.sent} hint={t('ofCampaigns', { count: stats.totalCampaigns })} />
      <CountTile figure="delivered" count={stats.delivered} hint={ofSent} />
      <CountTile figure="read" count={stats.read} hint={ofDelivered} />
      <CountTile figure="failed" count={stats.failed} hint={ofRecipients} />
    </Tiles>
  )
}
