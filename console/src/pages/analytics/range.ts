import { useSearchParams } from 'react-router'
import { useSession } from '../../session/session.js'
import type { Range } from './data.js'

/** Lengths in days of the ranges that end today. */
export const PRESETS = ['7', '30', '90'] as const
export type Preset = (typeof PRESETS)[number]

const DAY_MS = 86_400_000
const DEFAULT: Preset = '30'

/** The range of the URL, and functions that change it. */
export interface ChosenRange extends Range {
  /** Null for a range of selected days. */
  preset: Preset | null
  today: string
  choosePreset: (preset: Preset) => void
  chooseDays: (range: Range) => void
}

/** The range is in the URL (`?days=30`, or `?from=&to=`), so that it can be bookmarked and shared. */
export function useRange(): ChosenRange {
  const [query, setQuery] = useSearchParams()
  const { timezone } = useSession().organization
  const today = dayIn(timezone, new Date())
  const from = query.get('from')
  const to = query.get('to')
  const setters = {
    today,
    choosePreset: (preset: Preset) => setQuery({ days: preset }, { replace: true }),
    chooseDays: (range: Range) => setQuery({ ...range }, { replace: true }),
  }
  if (isDay(from) && isDay(to)) return { from, to, preset: null, ...setters }
  const preset = PRESETS.find((days) => days === query.get('days')) ?? DEFAULT
  return { from: addDays(today, 1 - Number(preset)), to: today, preset, ...setters }
}

/** Dates are counted in UTC, which has no clock changes. */
function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

function dayIn(timeZone: string, at: Date): string {
  // The Swedish locale formats dates as YYYY-MM-DD.
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(at)
}

function isDay(text: string | null): text is string {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}
