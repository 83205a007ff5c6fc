import { Group, SegmentedControl, Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { type ChosenRange, PRESETS, type Preset } from './range.js'

const DaysPicker = lazy(() => import('./days-picker.js'))

/** Selects the days whose campaigns are shown. */
export function RangePicker({ range }: { range: ChosenRange }) {
  const { t } = useTranslation('analytics')
  return (
    <Group gap="xs" align="flex-end">
      <SegmentedControl
        value={range.preset ?? ''}
        onChange={(preset) => range.choosePreset(preset as Preset)}
        aria-label={t('range.label')}
        data={PRESETS.map((days) => ({ value: days, label: t('range.last', { count: Number(days) }) }))}
      />
      <Suspense fallback={<Skeleton h={36} w={240} />}>
        <DaysPicker range={range} />
      </Suspense>
    </Group>
  )
}
