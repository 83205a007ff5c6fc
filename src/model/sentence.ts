import { NOTICE_SENTENCES } from './organizations/notice-sentences.js'

/**
 * What can be wrong with what a member of a team gives, and what the upstream reports, in English; `{name}` stands for a
 * value. The page has the same sentences in its other languages (console/src/i18n/problems).
 */
export const SENTENCES = {
  ...NOTICE_SENTENCES,
  whole_number: '{field} must be a whole number from {minimum} to {maximum}',
  one_of: '{field} must be one of {names}',
  at_most: '{field} must have at most {limit} characters',
  at_least: '{field} must have at least {limit} characters',
  not_empty: '{field} must not be empty',
  items_at_most: '{field} must have at most {limit} items, not {given}',
  email: '{field} must be an e-mail address',
  uri: '{field} must be a valid uri',
  shop_url: '{field} must be an http or https URL without user name, query and fragment',
  link_target: '{field} must be an http or https URL without spaces, user name and password',
  phone_number:
    '{field} "{given}" is not a possible phone number: give it with its country code, such as +5511999990000',
  rounded_number:
    '{field} "{given}" was rounded by a spreadsheet program, and its last digits are lost: format the column as text, then enter the number again',
  not_callable:
    '{field} cannot be called: {why}. Give an address that the internet can reach, such as https://example.com/hook, or have the operator allow it (PARLEY_ALLOWED_PRIVATE_HOSTS)',
  no_number_column:
    '{field} is required: the first row of the file must name such a column, such as Phone, Mobile, WhatsApp, Telefone, Celular or Móvil, and it has {headings}',
  repeated_column: 'The header (row {row} of the file) names {column} twice: remove one of the columns',
  long_row: 'The row has {cells} cells, and the header {columns}: a cell that contains the separator must be quoted',
  too_many_renumbered:
    '{messages} messages would move back or get another number, and at most {limit} can: the two stay one contact',
  unreadable_row: 'Row {row} of the file {why}',
  not_text: 'The file is not a text: save it as "CSV UTF-8", not as a workbook',
  mixed_encoding:
    'Line {line} of the file has a byte that is not UTF-8, and most of the file is UTF-8: save it as "CSV UTF-8" again',
} as const

export type SentenceCode = keyof typeof SENTENCES

/** A sentence of the catalogue and its values. The text in each language is made from them. */
export interface Sentence {
  code: SentenceCode
  values: Readonly<Record<string, string | number>>
}

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** The sentence of a code, with the values that its text names. */
export function sentence<Code extends SentenceCode>(
  code: Code,
  values: Record<NamesIn<(typeof SENTENCES)[Code]>, string | number>,
): Sentence {
  return { code, values }
}

/** The English text of a message. */
export function toEnglish(message: string | Sentence): string {
  if (typeof message === 'string') return message
  const { code, values } = message
  return SENTENCES[code].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
