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
  account_restricted:
    'WhatsApp has restricted the account ({name}) and would refuse this message. Open the account in WhatsApp Manager, and ask for a review there. If it can send again, save its connection again',
  account_restricted_until:
    'WhatsApp has restricted the account until {until} ({name}) and would refuse this message. Open the account in WhatsApp Manager, and ask for a review there if it is wrong',
  // Of templates.
  template_name: '{field} may have only the letters a to z, digits and _',
  template_language:
    '{field} "{given}" is not one of the languages that WhatsApp has for templates: give the code of one, such as pt_BR or en',
  items_at_least: '{field} must have at least {limit} items',
  kind_at_most: '{field} may have at most {limit} of the type {kind}, not {given}',
  must_have: '{field} must have a part of the type {kind}',
  just_one_of: '{field} must have just one of {names}',
  not_together: '{field} is not possible together with {other}',
  not_in_category: '{field} is not possible in templates of the category {category}',
  one_line: '{field} must be one line',
  variable: '{field} has {given}, which is not a variable of this template. Its variables are like {example}',
  variable_braces: '{field} has braces that are not part of a variable such as {example}',
  variable_order: '{field} must number its variables from 1, in their order, without gaps: {given} is out of order',
  variable_edge: '{field} must not begin or end with a variable: write words before and after {given}',
  variables_at_most: '{field} may have at most {limit} variables, not {given}',
  no_variables: '{field} may have no variables such as {given}',
  example: '{field} must have an example for {given}',
  header_file: '{field} must have the handle or the address of one example file',
  button_url: '{field} must be an http or https URL. It may end in a variable: {example}',
  buttons_apart: '{field} must have the quick replies together, before or after all other buttons',
  cards_alike: '{field} must have the same parts as the first card: {names}',
} as const

export type SentenceCode = keyof typeof SENTENCES

/** A sentence of the catalogue and its values. The text in each language is made from them. */
export interface Sentence {
  code: SentenceCode
  values: Readonly<Record<string, string | number>>
}

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** The values that the text of a sentence names. */
export type SentenceValues<Code extends SentenceCode> = Record<NamesIn<(typeof SENTENCES)[Code]>, string | number>

/** The sentence of a code, with the values that its text names. */
export function sentence<Code extends SentenceCode>(code: Code, values: SentenceValues<Code>): Sentence {
  return { code, values }
}

/** The English text of a message. */
export function toEnglish(message: string | Sentence): string {
  if (typeof message === 'string') return message
  const { code, values } = message
  return SENTENCES[code].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
