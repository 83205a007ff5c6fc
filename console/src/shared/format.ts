import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

/** Formats times, numbers and amounts in the page's language and the viewer's time zone. */
export interface Format {
  /** 14:05 */
  time(at: string | Date): string
  /** 14:05:09.123 */
  exactTime(at: string | Date): string
  /** 22 Nov 2026 */
  date(at: string | Date): string
  /** 22 Nov 2026, 14:05 */
  dateTime(at: string | Date): string
  /** For lists. Today: the time; this week: the day; else the date. */
  brief(at: string | Date): string
  /** For the days of a conversation: Today, Yesterday, or the date with its weekday. */
  day(at: string | Date): string
  number(value: number): string
  /** Of a percentage, such as 12.34. */
  percent(value: number): string
  money(value: number, currency: string): string
  /** 1.2 MB */
  bytes(value: number): string
}

const DAY_MS = 86_400_000

/** The format of the page's language. */
export function useFormat(): Format {
  const { i18n } = useTranslation()
  const locale = i18n.language === 'pt' ? 'pt-BR' : 'en-GB'
  return useMemo(() => createFormat(locale), [locale])
}

/** `locale`: a locale of Intl. */
export function createFormat(locale: string): Format {
  const write = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, options)
    return (at: string | Date) => format.format(new Date(at))
  }
  const time = write({ hour: '2-digit', minute: '2-digit' })
  const date = write({ dateStyle: 'medium' })
  const weekday = write({ weekday: 'short' })
  const longDay = write({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const number = new Intl.NumberFormat(locale)
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const size = (value: number, unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(value)
  return {
    time,
    exactTime: write({ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }),
    date,
    dateTime: write({ dateStyle: 'medium', timeStyle: 'short' }),
    brief: (at) => {
      const days = daysSince(at)
      if (days === 0) return time(at)
      return days < 7 ? weekday(at) : date(at)
    },
    day: (at) => {
      const days = daysSince(at)
      return days < 2 ? capitalize(relative.format(-days, 'day')) : longDay(at)
    },
    number: (value) => number.format(value),
    percent: (value) => percent.format(value / 100),
    money: (value, currency) => new Intl.NumberFormat(locale, { style: 'currency', currency }).format(value),
    bytes: (value) => {
      if (value < 1_000) return size(value, 'byte')
      return value < 1_000_000 ? size(value / 1_000, 'kilobyte') : size(value / 1_000_000, 'megabyte')
    },
  }
}

/** 1:05 */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

/** Number of midnights in the viewer's time zone between the time and now. */
function daysSince(at: string | Date): number {
  const midnight = (moment: Date) => new Date(moment.getFullYear(), moment.getMonth(), moment.getDate()).getTime()
  return Math.max(0, Math.round((midnight(new Date()) - midnight(new Date(at))) / DAY_MS))
}

function capitalize(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1)
}
