/// <reference lib="es2024.string" />

import { isJsonObject, type JsonObject } from '../lib/text/json.js'
import { nearestWord } from '../lib/text/nearest-word.js'

/** What is read of a JSON Schema to learn which fields it knows. */
interface FieldSchema {
  type?: unknown
  properties?: Record<string, FieldSchema>
  patternProperties?: object
  additionalProperties?: unknown
  items?: FieldSchema
  anyOf?: FieldSchema[]
  oneOf?: FieldSchema[]
  discriminator?: { propertyName: string }
  const?: unknown
}

/** What a schema knows of a value; null = nothing: the value may hold whatever it likes. */
type Known =
  | KnownObject
  | { type: 'array'; items: Known }
  /** One of several objects, told apart by the field `tag`; `any` knows the fields of all of them. */
  | { type: 'kinds'; tag: string; kinds: ReadonlyMap<unknown, KnownObject>; any: KnownObject }

interface KnownObject {
  type: 'object'
  fields: ReadonlyMap<string, Known | null>
}

/** A field that a schema does not know. */
export interface UnknownField {
  /** Where it stands, such as `interactive.buttns` or `contacts[0].nme`; a name is cut at 100 characters. */
  path: string
  /** The same without the numbers of items. */
  place: string
  /** The path of the known field that it resembles. */
  nearest: string | null
  /** Why it is not known although others of its kind have it: `message_type audio`. */
  kind: string | null
}

/** How many unknown fields of a value are told. */
export const MAX_UNKNOWN = 20
const MAX_NAME = 100
/** How many fields are looked at: more are of lists, whose first items tell what is misspelt. */
const MAX_FIELDS = 10_000

/**
 * Makes the function that finds the fields of a value that a JSON Schema does not know: the first 20, each once for all items of
 * a list, of the first 10,000 fields. Objects of which the schema names no fields, or allows more, may hold anything.
 */
export function compileUnknownFields(schema: object): (value: unknown) => UnknownField[] {
  const known = compile(schema)
  if (known === null) return () => []
  return (value) => {
    const search = { found: [], places: new Set<string>(), left: MAX_FIELDS }
    walk(search, known, value, '')
    return search.found
  }
}

/** Says that a parameter or a field is not known, and which one was most likely meant: `ending` comes between the two. */
export function describeUnknown(is: 'parameter' | 'field', { path, nearest, kind }: UnknownField, ending = ''): string {
  const suggestion = nearest === null ? '' : ` Did you mean ${nearest}?`
  return `The ${is} ${path} is not ${kind === null ? 'known' : `a field of ${kind}`}${ending}.${suggestion}`
}

function compile(schema: FieldSchema): Known | null {
  const { properties, items, anyOf, oneOf, discriminator } = schema
  if (anyOf) {
    const [one = null, ...others] = anyOf.map(compile).filter((known) => known !== null)
    return others.length === 0 ? one : null
  }
  if (oneOf && discriminator) return compileKinds(oneOf, discriminator.propertyName)
  if (items) {
    const known = compile(items)
    return known && { type: 'array', items: known }
  }
  if (!properties || schema.additionalProperties || schema.patternProperties) return null
  return compileObject(properties)
}

function compileObject(properties: Record<string, FieldSchema>): KnownObject {
  return {
    type: 'object',
    fields: new Map(Object.entries(properties).map(([name, field]) => [name, compile(field)])),
  }
}

function compileKinds(schemas: FieldSchema[], tag: string): Known {
  const all = schemas.map(({ properties = {} }) => properties)
  const kinds = new Map(all.map((properties) => [properties[tag]?.const, compileObject(properties)]))
  return { type: 'kinds', tag, kinds, any: compileObject(Object.assign({}, ...all)) }
}

interface Search {
  found: UnknownField[]
  places: Set<string>
  left: number
}

/** The object that is looked at, and what is known of it. */
interface Place {
  path: string
  value: JsonObject
  fields: ReadonlyMap<string, Known | null>
  /** Where the object is one of several kinds and says which. */
  kinds: (Known & { type: 'kinds' }) | null
}

function walk(search: Search, known: Known, value: unknown, path: string): void {
  if (known.type === 'array') {
    if (Array.isArray(value)) walkItems(search, known.items, value, path)
  } else if (!isJsonObject(value)) {
    return
  } else if (known.type === 'object') {
    walkFields(search, { path, value, fields: known.fields, kinds: null })
  } else {
    const kind = known.kinds.get(value[known.tag])
    walkFields(search, { path, value, fields: (kind ?? known.any).fields, kinds: kind ? known : null })
  }
}

function walkItems(search: Search, known: Known, items: unknown[], path: string): void {
  for (let index = 0; index < items.length && search.left > 0; index++) {
    walk(search, known, items[index], `${path}[${index}]`)
  }
}

function walkFields(search: Search, place: Place): void {
  for (const name in place.value) {
    if (search.left-- <= 0 || search.found.length === MAX_UNKNOWN) return
    const known = place.fields.get(name)
    if (known) walk(search, known, place.value[name], join(place.path, name))
    else if (known === undefined) note(search, place, name)
  }
}

function note(search: Search, { path, value, fields, kinds }: Place, name: string): void {
  const shown = join(path, name.slice(0, MAX_NAME).toWellFormed())
  const place = shown.replace(/\[\d+\]/g, '[]')
  if (search.places.has(place)) return
  search.places.add(place)
  const kind = kinds?.any.fields.has(name) ? `${kinds.tag} ${value[kinds.tag]}` : null
  const nearest = kind === null ? nearestWord(name, fields.keys()) : null
  search.found.push({ path: shown, place, nearest: nearest && join(path, nearest), kind })
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
