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
export function describeProblem({ sentences, names, general }: ProblemTexts, problem: ServiceProblem): string {
  const { error, sentence } = problem
  // A page that was opened before an upgrade lacks the newest sentences.
  if (!sentence || !(sentence.code in sentences)) return names[error] ?? general
  return sentences[sentence.code].replace(/\{(\w+)\}/g, (_, name: string) => String(sentence.values[name]))
}
