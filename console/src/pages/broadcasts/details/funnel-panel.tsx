import { lazy } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { BroadcastFigures } from '../../analytics/data.js'
import { FigureTable } from '../../analytics/figures/figure-table.js'
import { ChartPanel } from '../../analytics/figures/panel.js'

const BarsChart = lazy(() => import('../../analytics/figures/bars-chart.js'))

/** How many recipients reached each step. */
export function FunnelPanel({ funnel }: { funnel: BroadcastFigures['conversionFunnel'] }) {
  const { t } = useTranslation('analytics')
  const { number, percent } = useFormat()
  const steps = [
    { name: t('figures.sent'), value: funnel.sent, color: 'var(--series-sent)' },
    { name: t('figures.delivered'), value: funnel.delivered, color: 'var(--series-delivered)' },
    { name: t('figures.read'), value: funnel.read, color: 'var(--series-read)' },
    { name: t('figures.clicked'), value: funnel.buttonClicked, color: 'var(--series-clicked)' },
    { name: t('figures.optedOut'), value: funnel.optedOut, color: 'var(--series-failed)' },
  ]
  const shareOf = (value: number) => (funnel.sent === 0 ? 0 : (value * 100) / funnel.sent)
  return (
    <ChartPanel
      title={t('funnel.title')}
      description={t('funnel.hint')}
      chart={<BarsChart bars={steps} label={t('funnel.chart')} valueLabel={t('funnel.people')} />}
      table={
        <FigureTable
          caption={t('funnel.title')}
          rows={steps}
          rowKey={({ name }) => name}
          columns={[
            { key: 'step', label: t('funnel.step'), value: ({ name }) => name },
            {
              key: 'people',
              label: t('funnel.people'),
              value: ({ value }) => value,
              show: ({ value }) => number(value),
            },
            {
              key: 'share',
              label: t('funnel.share'),
              value: ({ value }) => shareOf(value),
              show: ({ value }) => percent(shareOf(value)),
            },
          ]}
        />
      }
    />
  )
}
