import { useId } from 'react'
import { useTranslation } from 'react-i18next'

/** Props of every calendar: language and control labels. */
export function useCalendar() {
  const { t, i18n } = useTranslation('analytics')
  const id = useId()
  return {
    locale: i18n.language === 'pt' ? 'pt-br' : 'en',
    // The default colours of both are too pale.
    hideOutsideDates: true,
    weekendDays: [],
    // Names the dropdown after the field.
    id,
    popoverProps: { id },
    ariaLabels: {
      previousMonth: t('calendar.previousMonth'),
      nextMonth: t('calendar.nextMonth'),
      previousYear: t('calendar.previousYear'),
      nextYear: t('calendar.nextYear'),
      previousDecade: t('calendar.previousDecade'),
      nextDecade: t('calendar.nextDecade'),
    },
  }
}
