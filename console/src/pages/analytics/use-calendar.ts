import { useId } from 'react'
import { useTranslation } from 'react-i18next'

/** What every calendar of the page is given: its language, and names for its controls. */
export function useCalendar() {
  const { t, i18n } = useTranslation('analytics')
  const id = useId()
  return {
    locale: i18n.language === 'pt' ? 'pt-br' : 'en',
    // Both would be too pale to be read.
    hideOutsideDates: true,
    weekendDays: [],
    // What drops down is named after the field.
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
