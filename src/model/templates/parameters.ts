/// <reference lib="es2024.string" />

import { memoize } from '../../lib/async/memoize.js'
import { Problem } from '../problem.js'
import { partsOf } from './parts.js'
import { PLACEHOLDERS, toParameterText, unknownPlaceholders } from './placeholders.js'
import { describeTemplate, fileKindOf, type Template, type TemplateText } from './template.js'

/** The values of a template's variables, by name or by position; they may contain placeholders. */
export interface TemplateParameters {
  body: Record<string, string>
  header: Record<string, string>
  buttons: Record<string, string>
}

/** What is given besides the parameters, and what must be present. */
export interface ParameterCheck {
  hasHeaderMedia: boolean
  /** Whether parameters may be missing, because each recipient adds its own. The header's file is the same for all. */
  mayLack?: boolean
  /** Whether the parts that are filled by objects are given, too. They are checked by fillParts. */
  hasParts?: boolean
}

/** The parameters as read for a template; paths are the field names that clients write (`bodyParameters.discount`). */
export interface ParameterReading {
  /**
   * Under the template's own names: those of its variables, `1`, `2`, … if they have none, and `param1`, … for buttons.
   */
  parameters: TemplateParameters
  missing: string[]
  surplus: string[]
}

/** A variable that a parameter fills. */
export interface Slot {
  name: string
  /** Other accepted names, besides its position. */
  aliases: string[]
  /** Whether the template names it; otherwise it goes by its position. */
  isNamed: boolean
  kind: 'text' | 'address' | 'number' | 'code' | 'offer_code'
}

/** The fields in which clients give them. */
export const PARAMETER_FIELDS: Record<keyof TemplateParameters, string> = {
  body: 'bodyParameters',
  header: 'headerParameters',
  buttons: 'buttonParameters',
}

/** Templates with positions accept one more key: the name of the contact to be created. */
const ALWAYS_ALLOWED = ['name']
const POSITION = /^(?:param)?\d+$/
const HEADER_MEDIA = 'headerMedia'
const MAX_SHOWN = 10
const MAX_SHOWN_LENGTH = 100

/**
 * The parameters under the template's own names. Throws missing_field or invalid_field with all missing, surplus and
 * unknown ones, and invalid_field for a template that cannot be filled.
 */
export function checkParameters(
  template: Template,
  given: TemplateParameters,
  { hasHeaderMedia, mayLack = false, hasParts = false }: ParameterCheck,
): TemplateParameters {
  const { unfillable } = hasParts ? partsOf(template) : describeTemplate(template)
  if (unfillable !== null) {
    const message = `The template "${template.name}" (${template.language}) cannot be sent: it has a ${unfillable}, which cannot be filled yet`
    throw new Problem('invalid_field', message)
  }
  const { parameters, missing, surplus } = readParameters(template, given, hasHeaderMedia)
  const lacking = mayLack ? missing.filter((field) => field === HEADER_MEDIA) : missing
  const complaints = [
    ...(lacking.length > 0 ? [`needs ${enumerate(lacking)}`] : []),
    ...(surplus.length > 0 ? [`has no ${enumerate(surplus)}`] : []),
  ]
  if (complaints.length > 0) {
    const message = `The template "${template.name}" (${template.language}) ${complaints.join(', and ')}: ${takenBy(template)}`
    throw new Problem(lacking.length > 0 ? 'missing_field' : 'invalid_field', message)
  }
  checkPlaceholders(given)
  return parameters
}

/** Assigns parameters to the slots of a template. */
export function readParameters(
  template: Template,
  given: TemplateParameters,
  hasHeaderMedia: boolean,
): ParameterReading {
  const slots = slotsOf(template)
  const body = assign(slots.body, given.body, ALWAYS_ALLOWED)
  const header = assign(slots.header, given.header)
  const buttons = assign(slots.buttons, given.buttons)
  const takesMedia = fileKindOf(template) !== null
  const paths = (which: 'missing' | 'surplus') => [
    ...body[which].map((key) => `${PARAMETER_FIELDS.body}.${key}`),
    ...header[which].map((key) => `${PARAMETER_FIELDS.header}.${key}`),
    ...buttons[which].map((key) => `${PARAMETER_FIELDS.buttons}.${key}`),
  ]
  return {
    parameters: { body: body.values, header: header.values, buttons: buttons.values },
    missing: [...paths('missing'), ...(takesMedia && !hasHeaderMedia ? [HEADER_MEDIA] : [])],
    surplus: [...paths('surplus'), ...(!takesMedia && hasHeaderMedia ? [HEADER_MEDIA] : [])],
  }
}

/** The slots of a template, in the order in which positions count. */
export const slotsOf = memoize((template: Template): Record<keyof TemplateParameters, Slot[]> => {
  const { body, header, buttons } = describeTemplate(template)
  return {
    body: textSlots(template, body),
    header: header?.kind === 'text' ? textSlots(template, header) : header?.kind === 'location' ? LOCATION : [],
    buttons: buttons
      .filter(({ needsParameter }) => needsParameter)
      .map(({ kind, text, variable }, n) => ({
        name: `param${n + 1}`,
        aliases: variable === null ? [text] : [variable, text],
        isNamed: false,
        kind: kind === 'url' ? 'address' : partsOf(template).hasOffer ? 'offer_code' : 'code',
      })),
  }
})

/** The location header. */
const LOCATION: Slot[] = [
  { name: 'latitude', aliases: [], isNamed: true, kind: 'number' },
  { name: 'longitude', aliases: [], isNamed: true, kind: 'number' },
  { name: 'name', aliases: [], isNamed: true, kind: 'text' },
  { name: 'address', aliases: [], isNamed: true, kind: 'text' },
]

function textSlots({ parameter_format }: Template, { variables }: TemplateText): Slot[] {
  const isNamed = parameter_format === 'NAMED'
  const ordered = isNamed ? variables : [...variables].sort((a, b) => Number(a) - Number(b))
  return ordered.map((name) => ({ name, aliases: [], isNamed, kind: 'text' }))
}

interface Assigned {
  values: Record<string, string>
  missing: string[]
  surplus: string[]
}

/**
 * If two keys fit the same slot, its own name takes precedence over an alias, and an alias over the position. Blank
 * values count as missing.
 */
function assign(slots: Slot[], given: Record<string, string>, allowed: readonly string[] = []): Assigned {
  const keys = Object.keys(given)
  const table = keyTable(slots)
  const areOtherNames = !keys.some((key) => table.has(key) || POSITION.test(key))
  const isByOrder = areOtherNames && slots.every(({ isNamed }) => !isNamed)
  const slotOf = isByOrder ? assignInOrder(table, slots, keys, allowed) : table

  const values = new Map<string, string>()
  for (const key of allowed) if (!isBlank(given, key)) values.set(key, given[key] as string)
  const filled = new Set<string>()
  for (const [key, name] of slotOf) {
    if (isBlank(given, key) || filled.has(name)) continue
    values.set(name, given[key] as string)
    filled.add(name)
  }
  return {
    values: Object.fromEntries(values),
    missing: slots.map(({ name }) => name).filter((name) => !filled.has(name)),
    surplus: keys.filter((key) => !slotOf.has(key) && !allowed.includes(key)),
  }
}

/** The slots by their keys; the best key of each comes first. */
const keyTable = memoize((slots: Slot[]): ReadonlyMap<string, string> => {
  const table = new Map<string, string>()
  const enter = (key: string, { name }: Slot) => table.has(key) || table.set(key, name)
  for (const slot of slots) enter(slot.name, slot)
  for (const slot of slots) for (const alias of slot.aliases) enter(alias, slot)
  slots.forEach((slot, n) => {
    enter(String(n + 1), slot)
    enter(`param${n + 1}`, slot)
  })
  return table
})

/**
 * If the template has positions and the keys are unknown names, they are assigned in the order in which they were
 * written, provided that the number matches, with or without the `name` of a new contact.
 */
function assignInOrder(
  table: ReadonlyMap<string, string>,
  slots: Slot[],
  keys: string[],
  allowed: readonly string[],
): ReadonlyMap<string, string> {
  const candidates = [keys, keys.filter((key) => !allowed.includes(key))]
  const inOrder = candidates.find(({ length }) => length === slots.length) ?? []
  return new Map([...table, ...inOrder.map((key, n): [string, string] => [key, (slots[n] as Slot).name])])
}

function isBlank(given: Record<string, string>, key: string): boolean {
  return !Object.hasOwn(given, key) || toParameterText(given[key] as string) === ''
}

function checkPlaceholders({ body, header, buttons }: TemplateParameters): void {
  const complaints = [
    ...unknownIn(PARAMETER_FIELDS.body, body),
    ...unknownIn(PARAMETER_FIELDS.header, header),
    ...unknownIn(PARAMETER_FIELDS.buttons, buttons),
  ]
  if (complaints.length === 0) return
  throw new Problem('invalid_field', `There is no placeholder ${enumerate(complaints)}: use one of ${PLACEHOLDERS}`)
}

function unknownIn(field: string, values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([key, value]) =>
    unknownPlaceholders(value).map((placeholder) => `${placeholder} in ${field}.${key}`),
  )
}

function takenBy(template: Template): string {
  const { body, header, buttons } = slotsOf(template)
  const takes = [
    ...body.map(({ name }) => `bodyParameters.${name}`),
    ...header.map(({ name }) => `headerParameters.${name}`),
    ...buttons.map(({ name }) => `buttonParameters.${name}`),
    ...(fileKindOf(template) !== null ? [HEADER_MEDIA] : []),
  ]
  return takes.length === 0 ? 'it takes no parameters' : `it takes ${enumerate(takes)}`
}

/** Clients choose the number and length of the keys, so both are limited here. */
function enumerate(paths: string[]): string {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => path.slice(0, MAX_SHOWN_LENGTH).toWellFormed())
  return paths.length > MAX_SHOWN ? `${shown.join(', ')} and ${paths.length - MAX_SHOWN} more` : shown.join(', ')
}
