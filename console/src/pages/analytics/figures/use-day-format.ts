import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

/** Formats calendar dates (YYYY-MM-DD), which have no time zone. */
export function useDayFormat(): { short: (day: string) => string; long: (day: string) => string } {
  const { i18n } = useTranslation()
  const locale = i18n.language === 'pt' ? 'pt-BR' : 'en-GB'
  return useMemo(() => {
    const write = (options: Intl.DateTimeFormatOptions) => {
      const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
      return (day: string) => format.format(new Date(`${day}T00:00:00Z`))
    }
    return {
      short: write({ day: 'numeric', month: 'short' }),
      long: write({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
    }
  }, [locale])
}
