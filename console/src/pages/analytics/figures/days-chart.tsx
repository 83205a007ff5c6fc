import '@mantine/charts/styles.layer.css'
import { BarChart, LineChart } from '@mantine/charts'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { RangeFigures } from '../data.js'
import { SERIES } from './series.js'
import { useDayFormat } from './use-day-format.js'

// Dashes distinguish lines without colour. The line that is most often covered by another is the thickest.
const DASHES = { sent: undefined, delivered: '8 3', read: undefined, failed: '3 3' }
/** Up to this many days are shown as bars: a line through few days is a spike. */
const MOST_BARS = 14

/** Sent, delivered, read and failed messages per day, from the first day on that has any. */
export default function DaysChart({ days }: { days: RangeFigures['timeSeriesData'] }) {
  const { t } = useTranslation('analytics')
  const format = useFormat()
  const writeDay = useDayFormat()
  const series = SERIES.map(({ name, color }) => {
    const strokeDasharray = DASHES[name]
    return { name, color, label: t(`figures.${name}`), ...(strokeDasharray !== undefined && { strokeDasharray }) }
  })
  const shown = days.slice(days.findIndex((day) => SERIES.some(({ name }) => day[name] > 0)))
  const common = {
    h: 300,
    data: shown,
    dataKey: 'date',
    series,
    withLegend: true,
    legendProps: { verticalAlign: 'bottom' as const, itemSorter: null },
    tickLine: 'none' as const,
    valueFormatter: format.number,
    xAxisProps: { tickFormatter: writeDay.short, minTickGap: 24 },
    yAxisProps: { width: 44, allowDecimals: false },
    tooltipProps: { labelFormatter: (day: ReactNode) => day && writeDay.long(String(day)) },
    accessibilityLayer: false,
    role: 'img',
    'aria-label': t('days.chart'),
  }
  if (shown.length <= MOST_BARS) {
    return <BarChart {...common} maxBarWidth={40} barProps={{ radius: 3, isAnimationActive: false }} />
  }
  return (
    <LineChart
      {...common}
      curveType="linear"
      withDots={false}
      lineProps={({ name }) => ({ isAnimationActive: false, strokeWidth: name === 'sent' ? 5 : 2 })}
    />
  )
}
