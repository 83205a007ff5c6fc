import '@mantine/charts/styles.layer.css'
import { LineChart } from '@mantine/charts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { RangeFigures } from '../data.js'
import { SERIES } from './series.js'
import { useDayFormat } from './use-day-format.js'

// Dashes distinguish lines without colour. The line that is most often covered by another is the thickest.
const DASHES = { sent: undefined, delivered: '8 3', read: undefined, failed: '3 3' }
const MOST_DOTS = 14

/** Sent, delivered, read and failed messages per day. */
export default function DaysChart({ days }: { days: RangeFigures['timeSeriesData'] }) {
  const { t } = useTranslation('analytics')
  const format = useFormat()
  const writeDay = useDayFormat()
  const series = SERIES.map(({ name, color }) => {
    const strokeDasharray = DASHES[name]
    return { name, color, label: t(`figures.${name}`), ...(strokeDasharray !== undefined && { strokeDasharray }) }
  })
  return (
    <LineChart
      h={300}
      data={days}
      dataKey="date"
      series={series}
      curveType="linear"
      withLegend
      legendProps={{ verticalAlign: 'bottom', itemSorter: null }}
      withDots={days.length <= MOST_DOTS}
      dotProps={{ r: 3 }}
      tickLine="none"
      valueFormatter={format.number}
      xAxisProps={{ tickFormatter: writeDay.short, minTickGap: 24 }}
      yAxisProps={{ width: 44, allowDecimals: false }}
      tooltipProps={{ labelFormatter: (day) => day && writeDay.long(String(day)) }}
      accessibilityLayer={false}
      lineProps={({ name }) => ({ isAnimationActive: false, strokeWidth: name === 'sent' ? 5 : 2 })}
      role="img"
      aria-label={t('days.chart')}
    />
  )
}
