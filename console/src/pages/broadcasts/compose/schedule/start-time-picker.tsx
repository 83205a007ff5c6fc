import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/pt-br'
import { DateTimePicker } from '@mantine/dates'
import { IconCalendarClock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../../../../session/session.js'
import { useFormat } from '../../../../shared/format.js'
import { useCalendar } from '../../../analytics/use-calendar.js'
import classes from './start-time-picker.module.css'
import { localTime, toInstant } from './zoned.js'

interface StartTimePickerProps {
  value: string | null
  error: ReactNode
  onChange: (value: string | null) => void
}

/** Selects a time in the organization's time zone, and shows it in the viewer's. */
export default function StartTimePicker({ value, error, onChange }: StartTimePickerProps) {
  const { t } = useTranslation(['broadcasts', 'analytics'])
  const calendar = useCalendar()
  const { dateTime } = useFormat()
  const { timezone } = useSession().organization
  const isElsewhere = timezone !== Intl.DateTimeFormat().resolvedOptions().timeZone
  const own = value !== null && isElsewhere ? t('compose.yourTime', { at: dateTime(toInstant(value, timezone)) }) : ''
  return (
    <DateTimePicker
      {...calendar}
      label={t('compose.at')}
      description={`${t('compose.zone', { timezone })} ${own}`.trim()}
      placeholder={t('compose.atPlaceholder')}
      value={value}
      onChange={onChange}
      timePickerProps={{
        hoursInputLabel: t('calendar.hours', { ns: 'analytics' }),
        minutesInputLabel: t('calendar.minutes', { ns: 'analytics' }),
      }}
      submitButtonProps={{ 'aria-label': t('calendar.done', { ns: 'analytics' }) }}
      defaultTimeValue="09:00"
      minDate={localTime(new Date(), timezone)}
      valueFormat="D MMM YYYY, HH:mm"
      leftSection={<IconCalendarClock aria-hidden size={18} />}
      error={error}
      data-path="at"
      classNames={{ placeholder: classes.placeholder }}
      clearable
      withAsterisk
      maw={360}
    />
  )
}
