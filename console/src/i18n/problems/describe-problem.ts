import type { Sentence, SentenceCode } from '../../../../src/model/sentence.js'

/** An error of the service: its name, and its message, in English and as a sentence if it is one. */
export interface ServiceProblem {
  error: string
  message: string
  sentence?: Sentence | undefined
}

/** The service's errors in a language of the page. */
export interface ProblemTexts {
  sentences: Record<SentenceCode, string>
  /** Of errors without a sentence, by their name. */
  names: Record<string, string>
  /** Of all others. */
  general: string
}

/** The text of an error: its sentence, else what its name means. */
export function describeProblem(texts: ProblemTexts, { error, sentence }: ServiceProblem): string {
  return (sentence && fillSentence(texts, sentence)) ?? texts.names[error] ?? texts.general
}

/** The text of a sentence. Null if there is none: a page that was opened before an upgrade lacks the newest ones. */
export function fillSentence({ sentences }: ProblemTexts, { code, values }: Sentence): string | null {
  if (!(code in sentences)) return null
  return sentences[code].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
