import { lazy } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { Range, RangeFigures } from './data.js'
import { ExportLink } from './export-link.js'
import { exportOf } from './export-of.js'
import { FigureTable } from './figures/figure-table.js'
import { ChartPanel } from './figures/panel.js'
import { SERIES } from './figures/series.js'
import { useDayFormat } from './figures/use-day-format.js'

const DaysChart = lazy(() => import('./figures/days-chart.js'))

/** The figures of each day. */
export function DaysPanel({ days, range }: { days: RangeFigures['timeSeriesData']; range: Range }) {
  const { t } = useTranslation('analytics')
  const { number } = useFormat()
  const writeDay = useDayFormat()
  return (
    <ChartPanel
      title={t('days.title')}
      description={t('days.hint')}
      actions={<ExportLink href={exportOf('days', range)} of={t('days.title')} />}
      chart={<DaysChart days={days} />}
      table={
        <FigureTable
          caption={t('days.title')}
          rows={days}
          rowKey={({ date }) => date}
          isSortable
          columns={[
            { key: 'date', label: t('days.day'), value: ({ date }) => date, show: ({ date }) => writeDay.long(date) },
            ...SERIES.map(({ name }) => ({
              key: name,
              label: t(`figures.${name}`),
              value: (day: (typeof days)[number]) => day[name],
              show: (day: (typeof days)[number]) => number(day[name]),
            })),
          ]}
        />
      }
    />
  )
}
