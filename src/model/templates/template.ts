import { memoize } from '../../lib/async/memoize.js'
import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'

/**
 * A template as the upstream lists it, one per name and language. Only APPROVED ones can be sent. Results are memoized
 * per object, so templates must not be mutated.
 */
export interface Template {
  name: string
  language: string
  status: string
  category: string
  parameter_format: 'NAMED' | 'POSITIONAL'
  /** As the upstream sent them. */
  components: JsonObject[]
  // Events and broadcasts that are older than these fields lack them.
  upstream_id?: string | null
  /** Why it was rejected or paused, in the upstream's words: INVALID_FORMAT, FIRST_PAUSE. */
  status_reason?: string | null
  /** Since when it has its status, as far as that was seen; in events an ISO string. */
  status_at?: Date | string | null
  /** GREEN, YELLOW, RED or UNKNOWN. */
  quality?: string | null
}

/** A template as its row is stored; in events the date is an ISO string. */
export interface StoredTemplate extends Template {
  organization_id: string
  upstream_id: string | null
  /** When the row was last written. */
  synced_at: Date | string
}

/** Whether the template is sent to phone numbers only: the upstream refuses it for a user id (131062). */
export function needsPhoneNumber({ category }: Pick<Template, 'category'>): boolean {
  return category === 'AUTHENTICATION'
}

/** A text with the names of its variables (`{{name}}`, `{{1}}`), each once, in order. */
export interface TemplateText {
  text: string
  variables: string[]
}

/** The types of file in a header. */
export type TemplateFileKind = 'image' | 'video' | 'document'

export interface TemplateButton {
  /** The index among all buttons of the template, from 0. */
  index: number
  kind: 'quick_reply' | 'url' | 'copy_code' | 'phone_number' | 'flow' | 'catalog' | 'products' | 'product' | 'other'
  text: string
  /** Whether it takes a parameter: the rest of a URL, or a code. */
  needsParameter: boolean
  /** The name of the variable in its URL, if it is not a number. */
  variable: string | null
}

/** The parts of a template, with their variables. */
export interface TemplateForm {
  body: TemplateText
  header: ({ kind: 'text' } & TemplateText) | { kind: TemplateFileKind } | { kind: 'location' } | null
  footer: string | null
  buttons: TemplateButton[]
  /**
   * The first part that a send would have to fill and that has no variables: `CAROUSEL`; null if there is none. Some of
   * these parts are filled by objects (templates/parts).
   */
  unfillable: string | null
}

/** The components that can be filled, or need nothing in a send. */
const COMPONENTS = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CALL_PERMISSION_REQUEST']
const HEADERS = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION']
const BUTTONS = ['QUICK_REPLY', 'URL', 'OTP', 'COPY_CODE', 'PHONE_NUMBER', 'FLOW', 'VOICE_CALL']

/** A variable in a template's text. */
const VARIABLE = /\{\{\s*([\p{L}\p{N}_]+)\s*\}\}/gu

/** Reads the components of a template. Unknown components are only named, in `unfillable`. */
export const describeTemplate = memoize(({ components, parameter_format }: Template): TemplateForm => {
  const find = (type: string) => asObject(components.find((component) => typeOf(component) === type))
  return {
    body: readText(find('BODY'), parameter_format),
    header: readHeader(find('HEADER'), parameter_format),
    footer: asText(find('FOOTER').text),
    buttons: readButtons(find('BUTTONS').buttons),
    unfillable: findUnfillable(components),
  }
})

/** The type of the header's file; null if there is none. */
export function fileKindOf(template: Template): TemplateFileKind | null {
  const { header } = describeTemplate(template)
  return header === null || header.kind === 'text' || header.kind === 'location' ? null : header.kind
}

/** How long a pause lasts, in milliseconds. */
const PAUSES: Record<string, number> = { FIRST_PAUSE: 3 * 3_600_000, SECOND_PAUSE: 6 * 3_600_000 }

/** The template as interfaces and events show it. */
export function presentTemplate(template: Template) {
  const { name, language, status, category, parameter_format, components } = template
  const { upstream_id: id = null, status_reason: reason = null, quality = null } = template
  return {
    ...{ name, language, status, category, parameter_format, components, id, quality },
    rejected_reason: status === 'REJECTED' ? reason : null,
    paused_until: pauseEnd(template),
  }
}

/** When a pause ends, in ISO 8601; null if it is not paused, or the upstream did not say for how long. */
function pauseEnd({ status, status_reason: reason, status_at: since }: Template): string | null {
  const lasts =
    status === 'PAUSED' && typeof reason === 'string' && Object.hasOwn(PAUSES, reason) ? PAUSES[reason] : null
  return lasts && since ? new Date(new Date(since).getTime() + lasts).toISOString() : null
}

/** The texts of the quick-reply buttons, in order. */
export function quickReplies(template: Template): string[] {
  return describeTemplate(template).buttons.flatMap(({ kind, text }) => (kind === 'quick_reply' ? [text] : []))
}

/** How the parameters of these components are named if the upstream does not say: numbers are positions. */
export function inferParameterFormat(components: readonly JsonObject[]): Template['parameter_format'] {
  const texts = components.filter((component) => ['HEADER', 'BODY'].includes(typeOf(component)))
  const names = texts.flatMap(({ text }) => variablesOf(asText(text) ?? ''))
  return names.every(isPosition) ? 'POSITIONAL' : 'NAMED'
}

/** The text with its variables replaced; variables without a value stay. */
export function fillText(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(VARIABLE, (variable, name: string) => values.get(name) ?? variable)
}

/** Types of parts, in upper case. */
interface PartTypes {
  components: readonly string[]
  headers: readonly string[]
  buttons: readonly string[]
}

/**
 * The first part of a template that a send would have to fill and that cannot be filled; null if there is none.
 * `also`: types that can be filled besides those with variables.
 */
export function findUnfillable(
  components: readonly JsonObject[],
  also: PartTypes = { components: [], headers: [], buttons: [] },
): string | null {
  const find = (type: string) => asObject(components.find((component) => typeOf(component) === type))
  const isStrange = (types: readonly string[], more: readonly string[]) => (type: string) =>
    !types.includes(type) && !more.includes(type)
  const component = components.map(typeOf).find(isStrange(COMPONENTS, also.components))
  if (component !== undefined) return component || 'component without a type'
  const format = asText(find('HEADER').format)?.toUpperCase()
  if (format !== undefined && isStrange(HEADERS, also.headers)(format)) return `HEADER with the format ${format}`
  const button = asObjects(find('BUTTONS').buttons).map(typeOf).find(isStrange(BUTTONS, also.buttons))
  return button === undefined ? null : `button of type ${button}`
}

function typeOf({ type }: JsonObject): string {
  return asText(type)?.toUpperCase() ?? ''
}

/** In a positional template only numbers are variables. */
function readText(component: JsonObject, format: Template['parameter_format']): TemplateText {
  const text = asText(component.text) ?? ''
  const variables = variablesOf(text)
  return { text, variables: format === 'POSITIONAL' ? variables.filter(isPosition) : variables }
}

function readHeader(component: JsonObject, format: Template['parameter_format']): TemplateForm['header'] {
  switch (asText(component.format)?.toUpperCase()) {
    case 'TEXT':
      return { kind: 'text', ...readText(component, format) }
    case 'IMAGE':
      return { kind: 'image' }
    case 'VIDEO':
      return { kind: 'video' }
    case 'DOCUMENT':
      return { kind: 'document' }
    case 'LOCATION':
      return { kind: 'location' }
    default:
      return null
  }
}

function readButtons(buttons: unknown): TemplateButton[] {
  return Array.isArray(buttons) ? buttons.map((button: unknown, index) => readButton(asObject(button), index)) : []
}

function readButton(button: JsonObject, index: number): TemplateButton {
  const common = { index, text: asText(button.text) ?? '', needsParameter: false, variable: null }
  switch (typeOf(button)) {
    case 'QUICK_REPLY':
      return { ...common, kind: 'quick_reply' }
    case 'URL': {
      const [variable] = variablesOf(asText(button.url) ?? '')
      const isNamed = variable !== undefined && !isPosition(variable)
      return { ...common, kind: 'url', needsParameter: variable !== undefined, variable: isNamed ? variable : null }
    }
    // The code of an authentication template is sent as the rest of a URL.
    case 'OTP':
      return { ...common, kind: 'url', needsParameter: true }
    case 'COPY_CODE':
      return { ...common, kind: 'copy_code', needsParameter: true }
    case 'PHONE_NUMBER':
      return { ...common, kind: 'phone_number' }
    case 'FLOW':
      return { ...common, kind: 'flow' }
    case 'CATALOG':
      return { ...common, kind: 'catalog' }
    case 'MPM':
      return { ...common, kind: 'products' }
    case 'SPM':
      return { ...common, kind: 'product' }
    default:
      return { ...common, kind: 'other' }
  }
}

function variablesOf(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(VARIABLE), ([, name]) => name as string))]
}

function isPosition(name: string): boolean {
  return /^\d+$/.test(name)
}
