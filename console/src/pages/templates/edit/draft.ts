import { asObject, asObjects, asText } from '../../../shared/json.js'
import { readForm, type TemplateFileKind, VARIABLE } from '../../../shared/templates/template-form.js'
import type { Fault, Template } from '../types.js'

/** The types of button that the page can make. */
export const BUTTON_KINDS = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE'] as const
export type ButtonKind = (typeof BUTTON_KINDS)[number]

export const HEADER_KINDS = ['none', 'text', 'image', 'video', 'document', 'location'] as const
export type HeaderKind = (typeof HEADER_KINDS)[number]

/** A button in the form. `value`: its URL, number or code; `example`: of the end of the URL. */
export interface DraftButton {
  /** Tells buttons apart while they are moved. */
  key: number
  kind: ButtonKind
  text: string
  value: string
  example: string
}

/** The form of a template. */
export interface Draft {
  name: string
  language: string
  category: string
  headerKind: HeaderKind
  headerText: string
  /** The handle or the address of the example file; empty: none. */
  headerFile: string
  body: string
  footer: string
  buttons: DraftButton[]
  /** Examples of the variables of the header's text and of the body, by name. */
  headerExamples: Record<string, string>
  bodyExamples: Record<string, string>
}

/** What the form is for. */
export type Purpose = 'new' | 'edit' | 'duplicate'
/** Changes some fields of the draft. */
export type Change = (fields: Partial<Draft>) => void
/** The text of the first fault at a path; undefined if there is none. */
export type ErrorAt = (path: string | null) => string | undefined

/** A new template in the organization's language. */
export function emptyDraft(language: string): Draft {
  return {
    ...{ name: '', language, category: 'UTILITY', headerKind: 'none', headerText: '', headerFile: '', body: '' },
    ...{ footer: '', buttons: [], headerExamples: {}, bodyExamples: {} },
  }
}

/** The fields that the service checks, and their paths in its body. */
interface Paths {
  header: string | null
  body: string
  footer: string | null
  buttons: string | null
}

/** The body of POST /templates. */
export function toBody(draft: Draft) {
  const { name, language, category } = draft
  return { name, language, category, parameter_format: formatOf(draft), components: componentsOf(draft) }
}

/** The names of the variables of a text, each once, in order. */
export function variablesOf(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(VARIABLE), ([, name = '']) => name))]
}

/** How the variables are named; numbers are positions. */
export function formatOf({ body, headerKind, headerText }: Draft): Template['parameter_format'] {
  const names = variablesOf(headerKind === 'text' ? `${headerText} ${body}` : body)
  return names.every((name) => /^\d+$/.test(name)) ? 'POSITIONAL' : 'NAMED'
}

/** The components of a draft. */
export function componentsOf(draft: Draft): Record<string, unknown>[] {
  const { body, footer, buttons, bodyExamples } = draft
  return [
    ...headerOf(draft),
    { type: 'BODY', text: body, ...exampleOf(draft, body, bodyExamples, 'body_text') },
    ...(footer.trim() === '' ? [] : [{ type: 'FOOTER', text: footer }]),
    ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons: buttons.map(buttonOf) }]),
  ]
}

function headerOf(draft: Draft): Record<string, unknown>[] {
  const { headerKind: kind, headerText: text, headerFile: file, headerExamples } = draft
  if (kind === 'none') return []
  const format = kind.toUpperCase()
  if (kind === 'location') return [{ type: 'HEADER', format }]
  if (kind !== 'text') return [{ type: 'HEADER', format, ...(file !== '' && { example: { header_handle: [file] } }) }]
  return [{ type: 'HEADER', format, text, ...exampleOf(draft, text, headerExamples, 'header_text') }]
}

function exampleOf(
  draft: Draft,
  text: string,
  values: Record<string, string>,
  field: 'header_text' | 'body_text',
): object {
  const names = variablesOf(text)
  if (names.length === 0) return {}
  if (formatOf(draft) === 'NAMED') {
    const params = names.map((name) => ({ param_name: name, example: values[name] ?? '' }))
    return { example: { [`${field}_named_params`]: params } }
  }
  const list = names.map((name) => values[name] ?? '')
  return { example: { [field]: field === 'body_text' ? [list] : list } }
}

function buttonOf({ kind, text, value, example }: DraftButton): Record<string, unknown> {
  switch (kind) {
    case 'QUICK_REPLY':
      return { type: kind, text }
    case 'URL':
      return { type: kind, text, url: value, ...(variablesOf(value).length > 0 && { example: [example] }) }
    case 'PHONE_NUMBER':
      return { type: kind, text, phone_number: value }
    case 'COPY_CODE':
      return { type: kind, example: value }
  }
}

/** Where the parts of a draft are in the body of the request. */
export function pathsOf({ headerKind, footer, buttons }: Draft): Paths {
  const header = headerKind === 'none' ? 0 : 1
  const afterBody = header + 1
  const afterFooter = afterBody + (footer.trim() === '' ? 0 : 1)
  return {
    header: header === 0 ? null : 'components[0]',
    body: `components[${header}]`,
    footer: afterFooter === afterBody ? null : `components[${afterBody}]`,
    buttons: buttons.length === 0 ? null : `components[${afterFooter}].buttons`,
  }
}

/** What a member may not have come to yet; shown once the template is sent. */
const LATER = ['not_empty', 'example', 'header_file']

/** The faults that are shown: while the form is filled, only those of what is written. */
export function shownFaults(faults: readonly Fault[], isSent: boolean): Fault[] {
  return isSent ? [...faults] : faults.filter(({ sentence }) => !LATER.includes(sentence.code))
}

/** The first fault of a field, or of a part of it. */
export function faultAt(faults: readonly Fault[], path: string | null): Fault | undefined {
  if (path === null) return undefined
  return faults.find(({ field }) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`))
}

/** The fields of parts and buttons that the form writes. */
const WRITTEN: Record<string, readonly string[]> = {
  HEADER: ['format', 'text', 'example'],
  BODY: ['text', 'example'],
  FOOTER: ['text'],
  BUTTONS: ['buttons'],
  QUICK_REPLY: ['text'],
  URL: ['text', 'url', 'example'],
  PHONE_NUMBER: ['text', 'phone_number'],
  // Its text is the upstream's.
  COPY_CODE: ['text', 'example'],
}

function isWritten(part: Record<string, unknown>): boolean {
  const fields = WRITTEN[upper(part.type)] ?? []
  return Object.keys(part).every((name) => name === 'type' || fields.includes(name))
}

/** The draft of a template; null if it has parts, or fields of parts, that the form does not have. */
export function draftOf(template: Template): Draft | null {
  const form = readForm(template)
  const parts = template.components.map(asObject)
  const find = (type: string) => asObject(parts.find((part) => upper(part.type) === type))
  const isKnown = parts.every((part) => ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'].includes(upper(part.type)))
  const listed = asObjects(find('BUTTONS').buttons)
  const buttons = listed.map(readButton)
  const header = find('HEADER')
  const headerKind = header.format === undefined ? 'none' : HEADER_KINDS.find((kind) => kind === form.header?.kind)
  if (!isKnown || headerKind === undefined || template.category === 'AUTHENTICATION') return null
  if (buttons.some((button) => button === null) || ![...parts, ...listed].every(isWritten)) return null
  const { name, language, category } = template
  return {
    ...{ name, language, category, headerKind },
    headerText: form.header?.kind === 'text' ? form.header.text : '',
    headerFile: asText(firstOf(asObject(header.example).header_handle)) ?? '',
    body: form.body.text,
    footer: form.footer ?? '',
    buttons: buttons.filter((button) => button !== null).map((button, key) => ({ ...button, key })),
    headerExamples: readExamples(asObject(header.example), 'header_text'),
    bodyExamples: readExamples(asObject(find('BODY').example), 'body_text'),
  }
}

function readButton(button: Record<string, unknown>): Omit<DraftButton, 'key'> | null {
  const kind = BUTTON_KINDS.find((known) => known === upper(button.type))
  if (kind === undefined) return null
  const value = {
    QUICK_REPLY: '',
    URL: button.url,
    PHONE_NUMBER: button.phone_number,
    COPY_CODE: firstOf(button.example),
  }
  return {
    kind,
    text: asText(button.text) ?? '',
    value: asText(value[kind]) ?? '',
    example: kind === 'URL' ? (asText(firstOf(button.example)) ?? '') : '',
  }
}

function readExamples(example: Record<string, unknown>, field: 'header_text' | 'body_text'): Record<string, string> {
  const named = asObjects(example[`${field}_named_params`])
  if (named.length > 0) {
    return Object.fromEntries(named.map((param) => [asText(param.param_name) ?? '', asText(param.example) ?? '']))
  }
  const given = example[field]
  const list: unknown[] = Array.isArray(firstOf(given))
    ? (firstOf(given) as unknown[])
    : Array.isArray(given)
      ? given
      : []
  return Object.fromEntries(list.map((value, index) => [String(index + 1), asText(value) ?? '']))
}

/** The kind of the header's file; null if it has none. */
export function fileKindOf({ headerKind }: Draft): TemplateFileKind | null {
  return headerKind === 'image' || headerKind === 'video' || headerKind === 'document' ? headerKind : null
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value[0] as unknown) : value
}

function upper(value: unknown): string {
  return asText(value)?.toUpperCase() ?? ''
}
