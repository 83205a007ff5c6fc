import '@mantine/charts/styles.layer.css'
import { BarChart } from '@mantine/charts'
import { useFormat } from '../../../shared/format.js'

export interface Bar {
  name: string
  value: number
  color: string
}

const BAR_HEIGHT = 46
const LONGEST_NAME = 18

/** Figures as horizontal bars. Screen readers use the table instead. */
export default function BarsChart({ bars, label, valueLabel }: { bars: Bar[]; label: string; valueLabel: string }) {
  const format = useFormat()
  return (
    <BarChart
      h={bars.length * BAR_HEIGHT + 12}
      data={bars.map((bar) => ({ ...bar }))}
      dataKey="name"
      series={[{ name: 'value', label: valueLabel, color: 'var(--series-sent)' }]}
      orientation="vertical"
      gridAxis="none"
      tickLine="none"
      withXAxis={false}
      withBarValueLabel
      valueLabelProps={{ position: 'right', fill: 'var(--mantine-color-text)' }}
      valueFormatter={format.number}
      maxBarWidth={26}
      barChartProps={{ margin: { right: 52 } }}
      barProps={{ radius: 4, isAnimationActive: false }}
      yAxisProps={{ width: 124, tickFormatter: shorten }}
      accessibilityLayer={false}
      role="img"
      aria-label={label}
    />
  )
}

function shorten(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name
}
