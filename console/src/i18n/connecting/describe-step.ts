import type { ConnectionStep } from '../../../../src/model/organizations/connection-steps.js'
import type { StepText } from './pt/step-text.js'

/** Values that are times. */
const TIMES = new Set(['until', 'at'])

/** A step's sentence and remedy from these texts; the service's own English ones if a reason is newer than the page. */
export function describeStep(
  texts: Record<string, StepText> | null,
  { reason, sentence, remedy, values }: ConnectionStep,
  showTime: (time: string) => string,
): { sentence: string; remedy: string | null } {
  const text = texts?.[reason]
  if (text === undefined) return { sentence, remedy }
  const fill = (written: string) =>
    written.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(values[name] ?? '–')
      return TIMES.has(name) ? showTime(value) : value
    })
  return { sentence: fill(text.sentence), remedy: text.remedy === undefined ? remedy : fill(text.remedy) }
}
