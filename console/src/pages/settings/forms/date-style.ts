import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/pt-br'
import { useDisclosure } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'

/**
 * How the pickers of dates in a dialog speak the page's language (`format`: of dayjs). While one is open (`isPicking`), Escape is
 * for it and not for the dialog.
 */
export function useDateStyle() {
  const { t, i18n } = useTranslation('settings')
  const [isPicking, picking] = useDisclosure(false)
  const language =
    i18n.language === 'pt'
      ? { locale: 'pt-br', firstDayOfWeek: 0 as const }
      : { locale: 'en', firstDayOfWeek: 1 as const }
  const [previous, next] = [t('dates.previous'), t('dates.next')]
  const style = {
    ...language,
    hideOutsideDates: true,
    // Their red is too pale in the dark.
    weekendDays: [],
    ariaLabels: {
      previousMonth: previous,
      nextMonth: next,
      previousYear: previous,
      nextYear: next,
      previousDecade: previous,
      nextDecade: next,
    },
    // In roles its dialog would be named by an id that is nowhere.
    popoverProps: { withRoles: false, onOpen: picking.open, onClose: picking.close },
  }
  return { style, format: i18n.language === 'pt' ? 'DD/MM/YYYY' : 'D MMM YYYY', isPicking }
}
