import type { FilledTemplate, FilledText, TemplateContent } from '../messages/content.js'
import { LIMITS } from '../messages/limits.js'
import { PARAMETER_FIELDS, readParameters, type Slot, slotsOf, type TemplateParameters } from './parameters.js'
import { type Person, resolvePlaceholders, toParameterText } from './placeholders.js'
import { describeTemplate, fileKindOf, fillText, type Template, type TemplateForm } from './template.js'

/** A filled template, or the first field that is missing for this person, with the reason. */
export type FillOutcome<File> =
  | { outcome: 'filled'; content: TemplateContent<File> }
  | { outcome: 'missing'; field: string; text: string }

/** The header's file, in any form. */
export interface HeaderMedia<File> {
  file: File
  /** The display name of a document. */
  filename: string | null
}

/**
 * Fills a template for one person: replaces the parameters' placeholders and cleans the values for the upstream. An
 * empty value counts as missing, and so does one with a placeholder that is unknown or resolves to nothing. Surplus
 * parameters are ignored (checkParameters refuses them).
 */
export function fillTemplate<File>(
  template: Template,
  given: TemplateParameters,
  person: Person,
  headerMedia: HeaderMedia<File> | null,
): FillOutcome<File> {
  const { parameters, missing } = readParameters(template, given, headerMedia !== null)
  const [field] = missing
  if (field !== undefined) return { outcome: 'missing', field, text: `${field} is not given` }
  const values = resolveAll(slotsOf(template), parameters, person)
  if ('outcome' in values) return values
  return { outcome: 'filled', content: toContent(template, values, headerMedia) }
}

type Missing = Extract<FillOutcome<never>, { outcome: 'missing' }>
type Part = keyof TemplateParameters
const PARTS: Part[] = ['body', 'header', 'buttons']

/** The value of each slot for this person, by the slot's name. */
function resolveAll(
  slots: Record<Part, Slot[]>,
  parameters: TemplateParameters,
  person: Person,
): Record<Part, Map<string, string>> | Missing {
  const values: Record<Part, Map<string, string>> = { body: new Map(), header: new Map(), buttons: new Map() }
  for (const part of PARTS) {
    for (const slot of slots[part]) {
      const resolved = resolve(slot, parameters[part][slot.name] ?? '', person)
      if ('reason' in resolved) {
        const field = `${PARAMETER_FIELDS[part]}.${slot.name}`
        return { outcome: 'missing', field, text: `${field} cannot be filled: ${resolved.reason}` }
      }
      values[part].set(slot.name, resolved.text)
    }
  }
  return values
}

/** Values in a URL are encoded, so that they cannot change its target. */
function resolve({ kind }: Slot, value: string, person: Person): { text: string } | { reason: string } {
  const { text, unresolved } = resolvePlaceholders(value, person, kind === 'address' ? encodeURIComponent : undefined)
  if (unresolved !== null) return { reason: `${unresolved} resolves to nothing for this contact` }
  const safe = toParameterText(text)
  if (kind === 'number' && !Number.isFinite(Number(safe))) return { reason: 'it is not a number' }
  const limit = kind === 'offer_code' ? LIMITS.offerCode : LIMITS.coupon
  if ((kind === 'code' || kind === 'offer_code') && [...safe].length > limit) {
    return { reason: `${kind === 'code' ? 'a code' : 'the code of an offer'} has at most ${limit} characters` }
  }
  return { text: safe }
}

function toContent<File>(
  template: Template,
  values: Record<Part, Map<string, string>>,
  headerMedia: HeaderMedia<File> | null,
): TemplateContent<File> {
  const { name, language } = template
  const slots = slotsOf(template)
  const { body, header, footer, buttons } = describeTemplate(template)
  const parametersOfButtons = [...values.buttons.values()]
  const filled: FilledTemplate = {
    name,
    language,
    header: fillHeader(header, slots.header, values.header),
    body: fill(body.text, slots.body, values.body),
    footer,
    buttons: buttons.map(({ index, kind, text, needsParameter }) => ({
      index,
      kind,
      text,
      parameter: needsParameter ? (parametersOfButtons.shift() ?? null) : null,
    })),
  }
  const fileKind = fileKindOf(template)
  return {
    type: 'template',
    template: filled,
    header: fileKind !== null && headerMedia !== null ? { type: fileKind, ...headerMedia } : null,
  }
}

function fillHeader(
  header: TemplateForm['header'],
  slots: Slot[],
  values: Map<string, string>,
): FilledTemplate['header'] {
  if (header?.kind === 'text') return { type: 'text', ...fill(header.text, slots, values) }
  if (header?.kind !== 'location') return null
  const text = (name: string) => values.get(name) ?? ''
  return {
    type: 'location',
    latitude: text('latitude'),
    longitude: text('longitude'),
    name: text('name'),
    address: text('address'),
  }
}

function fill(text: string, slots: Slot[], values: Map<string, string>): FilledText {
  return {
    text: fillText(text, values),
    parameters: slots.map(({ name, isNamed }) => ({ name: isNamed ? name : null, text: values.get(name) ?? '' })),
  }
}
