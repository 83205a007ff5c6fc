import { isJsonObject, type JsonObject } from '../lib/text/json.js'

/** The parts of a JSON Schema that say which values a field may have. */
interface FieldSchema {
  type?: unknown
  const?: unknown
  enum?: readonly unknown[]
  required?: readonly string[]
  properties?: Record<string, FieldSchema>
  patternProperties?: Record<string, FieldSchema>
  items?: FieldSchema
  anyOf?: readonly FieldSchema[]
  oneOf?: readonly FieldSchema[]
  discriminator?: { propertyName: string }
}

/** Removes from a value, in place, the fields within it that are not given. */
type Clean = (value: unknown) => void

/**
 * Returns a function that removes, in place, what counts as not given in a value of this JSON Schema: optional fields
 * that are empty (`""`), null, or `[]` in place of an object, since PHP writes an empty object so. Of required fields
 * only `[]` becomes `{}`. A field keeps null if its schema names null, and `""` if its schema names the empty text:
 * there the value means something. Wrong values stay as they are.
 */
export function compileGiven(schema: object): (value: unknown) => void {
  return compile(schema) ?? (() => undefined)
}

/** Null if nothing in such a value can be not given. */
function compile(schema: FieldSchema): Clean | null {
  if (schema.oneOf && schema.discriminator) return compileKinds(schema.oneOf, schema.discriminator.propertyName)
  if (schema.anyOf) return compileEach(schema.anyOf)
  if (schema.items) return compileItems(schema.items)
  if (schema.properties) return compileFields(schema.properties, schema.required ?? [])
  return schema.patternProperties ? compileValues(Object.values(schema.patternProperties)) : null
}

/** One of several objects, distinguished by the field `tag`. */
function compileKinds(schemas: readonly FieldSchema[], tag: string): Clean {
  const kinds = new Map(schemas.map((schema) => [schema.properties?.[tag]?.const, compile(schema)]))
  return (value) => {
    if (isJsonObject(value)) kinds.get(value[tag])?.(value)
  }
}

function compileEach(schemas: readonly FieldSchema[]): Clean | null {
  const each = schemas.map(compile).filter((clean) => clean !== null)
  if (each.length === 0) return null
  return (value) => {
    for (const clean of each) clean(value)
  }
}

function compileItems(schema: FieldSchema): Clean | null {
  const clean = compile(schema)
  if (clean === null) return null
  return (value) => {
    if (Array.isArray(value)) for (const item of value) clean(item)
  }
}

/** The values of an object with any names; null is none of them, while `""` is a value. */
function compileValues(schemas: readonly FieldSchema[]): Clean | null {
  if (schemas.some((schema) => names(schema, null) || schema.type === undefined)) return null
  return (value) => {
    if (!isJsonObject(value)) return
    for (const name in value) if (value[name] === null) delete value[name]
  }
}

function compileFields(properties: Record<string, FieldSchema>, required: readonly string[]): Clean {
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    keepsNull: names(schema, null),
    keepsEmpty: names(schema, ''),
    isObject: takesObject(schema),
    clean: compile(schema),
  }))
  return (value) => {
    if (!isJsonObject(value)) return
    for (const field of fields) if (Object.hasOwn(value, field.name)) cleanField(value, field)
  }
}

interface Field {
  name: string
  isRequired: boolean
  keepsNull: boolean
  keepsEmpty: boolean
  isObject: boolean
  clean: Clean | null
}

function cleanField(parent: JsonObject, { name, isRequired, keepsNull, keepsEmpty, isObject, clean }: Field): void {
  const value = parent[name]
  const isEmptyObject = isObject && Array.isArray(value) && value.length === 0
  if (isRequired) {
    if (isEmptyObject) parent[name] = {}
    else clean?.(value)
  } else if (isEmptyObject || (value === null && !keepsNull) || (value === '' && !keepsEmpty)) delete parent[name]
  else clean?.(value)
}

/** Whether the schema names this value as one of its own. */
function names(schema: FieldSchema, value: null | ''): boolean {
  if (schema.const === value || schema.enum?.includes(value)) return true
  if (value === null && [schema.type].flat().includes('null')) return true
  return schema.anyOf?.some((one) => names(one, value)) ?? false
}

function takesObject(schema: FieldSchema): boolean {
  return schema.type === 'object' || (schema.anyOf?.some(takesObject) ?? false)
}
