/// <reference lib="es2024.string" />

import { isJsonObject, type JsonObject } from '../lib/text/json.js'
import { nearestWord } from '../lib/text/nearest-word.js'

/** The parts of a JSON Schema that name its fields. */
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

/** The fields that a schema knows of a value; null: any value is allowed. */
type Known =
  | KnownObject
  | { type: 'array'; items: Known }
  /** One of several objects, distinguished by the field `tag`; `any` knows the fields of all of them. */
  | { type: 'kinds'; tag: string; kinds: ReadonlyMap<unknown, KnownObject>; any: KnownObject }

interface KnownObject {
  type: 'object'
  fields: ReadonlyMap<string, Known | null>
}

/** A field that a schema does not know. */
export interface UnknownField {
  /** Its path, such as `interactive.buttns` or `contacts[0].nme`; names are cut at 100 characters. */
  path: string
  /** The path without array indexes. */
  place: string
  /** The path of the most similar known field. */
  nearest: string | null
  /** The kind of object that lacks the field although others have it: `message_type audio`. */
  kind: string | null
  /** Whether it is a time at which the request is to take effect, so that ignoring it acts at the wrong one. */
  isTime: boolean
}

/** Whether a field of this name and value says when something is to happen: `scheduled_at`, in any spelling. */
export function saysWhen(name: string, value: unknown): boolean {
  return value !== null && value !== '' && /^scheduled?[_-]?at$/i.test(name)
}

/** How many unknown fields are reported. */
export const MAX_UNKNOWN = 20
const MAX_NAME = 100
/** Words that are often used for a field, and its names at the endpoints that have it. */
const SYNONYMS: readonly { words: readonly string[]; names: readonly string[] }[] = [
  {
    words: ['to', 'number', 'phone', 'recipient', 'msisdn', 'waid', 'phonenumber', 'chatnumber', 'chatid', 'jid'],
    names: ['phone_number', 'chatNumber', 'chat_id'],
  },
  { words: ['type', 'kind'], names: ['message_type'] },
  { words: ['body', 'message', 'msg', 'content'], names: ['text'] },
  {
    words: ['url', 'link', 'media', 'file', 'image', 'video', 'audio', 'document'],
    names: ['media_url', 'headerMedia'],
  },
  { words: ['mediaid', 'fileid', 'uploadid', 'attachmentid'], names: ['media_id', 'headerMediaId'] },
  { words: ['template'], names: ['templateName'] },
  { words: ['variables', 'params', 'parameters', 'components'], names: ['bodyParameters'] },
  { words: ['context', 'replyto', 'quoted', 'quotedmessageid'], names: ['context_message_id'] },
  { words: ['name'], names: ['full_name'] },
]
/** How many fields are checked. Larger values are lists, whose first items show the same mistakes. */
const MAX_FIELDS = 10_000

/**
 * Returns a function that finds the fields of a value that a JSON Schema does not know: the first 20 (and all that say
 * when something is to happen), each once for all items of a list, among the first 10,000 fields. Objects whose schema names no fields, or allows further ones, may
 * contain anything.
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

/** Describes an unknown parameter or field and suggests the most similar one. `ending` comes between the two. */
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

/** An object of the value, and what the schema knows of it. */
interface Place {
  path: string
  value: JsonObject
  fields: ReadonlyMap<string, Known | null>
  /** Set if the object is one of several kinds and names its kind. */
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
  // The own fields first: a long list would use up the number of fields that are checked.
  for (const name in place.value) {
    if (search.left-- <= 0) return
    if (!place.fields.has(name)) note(search, place, name)
  }
  for (const name in place.value) {
    if (search.left <= 0) return
    const known = place.fields.get(name)
    if (known) walk(search, known, place.value[name], join(place.path, name))
  }
}

function note(search: Search, { path, value, fields, kinds }: Place, name: string): void {
  const isTime = saysWhen(name, value[name])
  if (search.found.length >= MAX_UNKNOWN && !isTime) return
  const shown = join(path, name.slice(0, MAX_NAME).toWellFormed())
  const place = shown.replace(/\[\d+\]/g, '[]')
  if (search.places.has(place)) return
  search.places.add(place)
  const kind = kinds?.any.fields.has(name) ? `${kinds.tag} ${value[kinds.tag]}` : null
  const nearest = kind === null ? (findSynonym(name, fields) ?? nearestWord(name, fields.keys())) : null
  search.found.push({ path: shown, place, nearest: nearest && join(path, nearest), kind, isTime })
}

/** The field that other services, or other endpoints of this one, call by this name. */
function findSynonym(name: string, fields: ReadonlyMap<string, unknown>): string | undefined {
  const word = name.toLowerCase().replace(/[_-]/g, '')
  return SYNONYMS.find(({ words }) => words.includes(word))?.names.find((known) => fields.has(known))
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
