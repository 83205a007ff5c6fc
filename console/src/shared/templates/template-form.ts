import type { Template } from '../../../../src/model/templates/template.js'
import { asObject, asObjects, asText, asUpper } from '../json.js'
import { readParts, type TemplateParts } from './template-parts.js'

/** A template as the service returns it. */
export type ShownTemplate = Pick<
  Template,
  'name' | 'language' | 'status' | 'category' | 'parameter_format' | 'components'
>

export type TemplateFileKind = 'image' | 'video' | 'document'

/** A button. `name`: the name of its parameter; null if it has none. */
export interface FormButton {
  kind: 'quick_reply' | 'url' | 'phone_number' | 'copy_code' | 'flow' | 'other'
  text: string
  /** The URL of the button, with its variable. */
  url: string | null
  parameter: string | null
}

/** The parts of a template and the names of their variables, as in src/model/templates/template. */
export interface TemplateForm {
  header: { kind: 'text'; text: string; variables: string[] } | { kind: TemplateFileKind | 'location' } | null
  body: { text: string; variables: string[] }
  footer: string | null
  buttons: FormButton[]
  parts: TemplateParts
}

/** A variable in the text of a template. */
export const VARIABLE = /\{\{\s*([\p{L}\p{N}_]+)\s*\}\}/gu

/** The names of the header's variables. */
export const LOCATION_VARIABLES = ['latitude', 'longitude', 'name', 'address'] as const

/** Reads the components of a template. */
export function readForm({ components, parameter_format }: ShownTemplate): TemplateForm {
  const find = (type: string) => asObject(components.find((component) => asUpper(component.type) === type))
  const variables = (text: string) => variablesOf(text, parameter_format === 'POSITIONAL')
  const body = asText(find('BODY').text) ?? ''
  return {
    header: readHeader(find('HEADER'), variables),
    body: { text: body, variables: variables(body) },
    footer: asText(find('FOOTER').text),
    buttons: readButtons(asObjects(find('BUTTONS').buttons)),
    parts: readParts(components),
  }
}

/** The kind of the header's file. Null if there is none. */
export function fileKindOf({ header }: TemplateForm): TemplateFileKind | null {
  return header === null || header.kind === 'text' || header.kind === 'location' ? null : header.kind
}

function readHeader(component: Record<string, unknown>, variables: (text: string) => string[]): TemplateForm['header'] {
  const kind = asUpper(component.format).toLowerCase()
  if (kind === 'text') {
    const text = asText(component.text) ?? ''
    return { kind, text, variables: variables(text) }
  }
  return kind === 'image' || kind === 'video' || kind === 'document' || kind === 'location' ? { kind } : null
}

function readButtons(buttons: Record<string, unknown>[]): FormButton[] {
  let parameters = 0
  return buttons.map((button) => {
    const type = asUpper(button.type)
    const url = asText(button.url)
    const isVariable = type === 'OTP' || type === 'COPY_CODE' || (type === 'URL' && variablesOf(url ?? '').length > 0)
    if (isVariable) parameters++
    return {
      kind: KINDS[type] ?? 'other',
      text: asText(button.text) ?? '',
      url,
      parameter: isVariable ? `param${parameters}` : null,
    }
  })
}

const KINDS: Record<string, FormButton['kind']> = {
  QUICK_REPLY: 'quick_reply',
  URL: 'url',
  OTP: 'url',
  PHONE_NUMBER: 'phone_number',
  COPY_CODE: 'copy_code',
  FLOW: 'flow',
}

/** The names of the variables, in order. In a template with positional variables, only numbers are variables. */
function variablesOf(text: string, isPositional = false): string[] {
  const names = [...new Set(Array.from(text.matchAll(VARIABLE), ([, name = '']) => name))]
  if (!isPositional) return names
  return names.filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(a) - Number(b))
}
