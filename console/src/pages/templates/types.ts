import type { Sentence } from '../../../../src/model/sentence.js'
import type { presentTemplate } from '../../../../src/model/templates/template.js'

/** A template as the service shows it. */
export type Template = ReturnType<typeof presentTemplate>

/** What is wrong with a field of a template. */
export interface Fault {
  field: string
  message: string
  sentence: Sentence
}

/** A template of WhatsApp's library. */
export interface LibraryTemplate {
  name: string
  language: string
  category: string
  header: string | null
  body: string
  footer: string | null
  body_params: string[]
  buttons: Record<string, unknown>[]
}
