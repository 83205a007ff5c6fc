import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/pt-br'
import { useDisclosure } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'

/**
 * Props that give the date pickers of dialogs the page's language (`format`: of dayjs). While a picker is open
 * (`isPicking`), Escape closes it and not the dialog.
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
    // Their red is too pale in dark mode.
    weekendDays: [],
    ariaLabels: {
      previousMonth: previous,
      nextMonth: next,
      previousYear: previous,
      nextYear: next,
      previousDecade: previous,
      nextDecade: next,
    },
    // The dropdown's dialog role would refer to a label id that does not exist.
    popoverProps: { withRoles: false, onOpen: picking.open, onClose: picking.close },
  }
  return { style, format: i18n.language === 'pt' ? 'DD/MM/YYYY' : 'D MMM YYYY', isPicking }
}
