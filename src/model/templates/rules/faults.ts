import { asText } from '../../../lib/text/json.js'
import type { Sentence, SentenceCode, SentenceValues } from '../../sentence.js'

/** What is wrong with one field of a template. */
export interface TemplateFault {
  /** The path of the field, such as `components[1].text`. */
  field: string
  /** Names the field as `field`. */
  sentence: Sentence
}

/** A fault of a field. */
export function fault<Code extends SentenceCode>(
  field: string,
  code: Code,
  values: Omit<SentenceValues<Code>, 'field'>,
): TemplateFault {
  return { field, sentence: { code, values: { ...values, field } as Sentence['values'] } }
}

/** The faults of a text that must have 1 to `limit` characters. */
export function checkLength(field: string, value: unknown, limit: number): TemplateFault[] {
  const text = asText(value)
  if (text === null || text.trim() === '') return [fault(field, 'not_empty', {})]
  return isLonger(text, limit) ? [fault(field, 'at_most', { limit })] : []
}

/** The faults of a whole number. */
export function checkWhole(
  field: string,
  value: unknown,
  { least: minimum, most: maximum }: { least: number; most: number },
): TemplateFault[] {
  const isWithin = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
  return isWithin ? [] : [fault(field, 'whole_number', { minimum, maximum })]
}

/** Counts code points; a text that is short enough in UTF-16 units needs no count. */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit && [...text].length > limit
}
