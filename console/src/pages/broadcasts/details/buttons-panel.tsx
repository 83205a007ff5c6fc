import { Text } from '@mantine/core'
import { lazy } from 'react'
import { useTranslation } from 'react-i18next'
import { apiUrl } from '../../../api/client.js'
import { useFormat } from '../../../shared/format.js'
import type { BroadcastFigures } from '../../analytics/data.js'
import { ExportLink } from '../../analytics/export-link.js'
import { FigureTable } from '../../analytics/figures/figure-table.js'
import { ChartPanel, Panel } from '../../analytics/figures/panel.js'

const BarsChart = lazy(() => import('../../analytics/figures/bars-chart.js'))

/** How many recipients pressed each quick-reply button. */
export function ButtonsPanel({ id, buttons }: { id: string; buttons: BroadcastFigures['allButtons'] }) {
  const { t } = useTranslation('analytics')
  const { number, percent } = useFormat()
  if (buttons.length === 0) {
    return (
      <Panel title={t('buttons.title')}>
        <Text c="dimmed">{t('buttons.none')}</Text>
      </Panel>
    )
  }
  const bars = buttons.map(({ buttonText, clicks }) => ({
    name: buttonText,
    value: clicks,
    color: 'var(--series-clicked)',
  }))
  return (
    <ChartPanel
      title={t('buttons.title')}
      description={t('buttons.hint')}
      actions={
        <ExportLink
          href={apiUrl('/analytics/export', { table: 'buttons', broadcast_id: id })}
          of={t('buttons.title')}
        />
      }
      chart={<BarsChart bars={bars} label={t('buttons.chart')} valueLabel={t('buttons.clicks')} />}
      table={
        <FigureTable
          caption={t('buttons.title')}
          rows={buttons}
          rowKey={({ buttonText }) => buttonText}
          columns={[
            { key: 'button', label: t('buttons.button'), value: ({ buttonText }) => buttonText },
            {
              key: 'clicks',
              label: t('buttons.clicks'),
              value: ({ clicks }) => clicks,
              show: ({ clicks }) => number(clicks),
            },
            {
              key: 'rate',
              label: t('buttons.rate'),
              value: ({ conversionRate }) => conversionRate,
              show: ({ conversionRate }) => percent(conversionRate),
            },
          ]}
        />
      }
    />
  )
}
