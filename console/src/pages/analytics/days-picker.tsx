import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/pt-br'
import { VisuallyHidden } from '@mantine/core'
import { DatePickerInput } from '@mantine/dates'
import { IconCalendar } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ChosenRange } from './range.js'
import { useCalendar } from './use-calendar.js'

type Days = [string | null, string | null]

/** Selects the first and last day. */
export default function DaysPicker({ range }: { range: ChosenRange }) {
  const { t } = useTranslation('analytics')
  const calendar = useCalendar()
  // Only the first day is known until the second is selected.
  const [begun, setBegun] = useState<string | null>(null)
  const choose = ([from, to]: Days) => {
    setBegun(to === null ? from : null)
    if (from !== null && to !== null) range.chooseDays({ from, to })
  }
  return (
    <DatePickerInput
      {...calendar}
      type="range"
      label={<VisuallyHidden>{t('range.days')}</VisuallyHidden>}
      value={begun === null ? [range.from, range.to] : [begun, null]}
      onChange={choose}
      onDropdownClose={() => setBegun(null)}
      allowSingleDateInRange
      maxDate={range.today}
      valueFormat="D MMM YYYY"
      leftSection={<IconCalendar aria-hidden size={18} />}
      w={{ base: '100%', xs: 270 }}
    />
  )
}
