import { type TSchema, Type } from 'typebox'
import { type Content, type Document, operationsOf, type Schema } from './document.js'

const COMPONENTS = '#/components/schemas/'

/** The schema under a name: the description holds it once, in its components. */
export function named<S extends TSchema>(title: string, schema: S): S {
  return { ...schema, title }
}

/** An answer of success with further fields, under a name. */
export const successAnswer = <Fields extends Record<string, TSchema>>(title: string, fields: Fields) =>
  named(title, Type.Object({ success: Type.Literal(true), ...fields }))

/**
 * Moves every schema that has a title to the components, and refers to it. On the way keywords that only our own checks
 * read (`x-…`) are left out, and enums get a type. Throws if two different schemas have the same title.
 */
export function nameSchemas(document: Document): void {
  const components = new Map<string, { before: string; after: Schema }>()
  const visit = ({ title, ...schema }: Schema): Schema => {
    const convert = () => mapSubschemas(withMapping(withType(withoutExtensions(foldNull(schema)))), visit)
    if (title === undefined) return convert()
    const known = components.get(title)
    const before = JSON.stringify(schema)
    if (known && known.before !== before) throw new Error(`two schemas are called ${title}`)
    if (!known) components.set(title, { before, after: convert() })
    return { $ref: COMPONENTS + title }
  }
  for (const { parameters = [], requestBody, responses } of operationsOf(document)) {
    for (const parameter of parameters) parameter.schema = visit(parameter.schema)
    if (requestBody) visitContent(requestBody.content, visit)
    for (const response of Object.values(responses)) {
      if (response.content) visitContent(response.content, (schema) => visit(withoutDescription(schema, response)))
    }
  }
  const sorted = [...components].sort(([a], [b]) => (a < b ? -1 : 1))
  document.components.schemas = Object.fromEntries(sorted.map(([title, { after }]) => [title, after]))
}

function visitContent(content: Content, visit: (schema: Schema) => Schema): void {
  for (const media of Object.values(content)) media.schema = visit(media.schema)
}

/** The response has the same description already. */
function withoutDescription(schema: Schema, response: { description: string }): Schema {
  const { description, ...rest } = schema
  return description === response.description ? rest : schema
}

function withoutExtensions(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keyword.startsWith('x-')))
}

/** A value or null: `type: [string, null]` in place of two alternatives. */
function foldNull(schema: Schema): Schema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [value, nothing] = anyOf as [Schema, Schema]
  const { type, enum: values } = withType(value)
  if (nothing.type !== 'null' || typeof type !== 'string' || value.title !== undefined || 'const' in value)
    return schema
  return { ...value, ...rest, type: [type, 'null'], ...(values && { enum: [...values, null] }) }
}

function withType(schema: Schema): Schema {
  if (schema.enum === undefined || schema.type !== undefined) return schema
  return { type: typeof schema.enum[0], ...schema }
}

/** By which value of the discriminator which of the named schemas is meant. */
function withMapping(schema: Schema): Schema {
  const { discriminator, oneOf } = schema
  if (!discriminator || !Array.isArray(oneOf)) return schema
  const { propertyName } = discriminator
  const mapping = (oneOf as Schema[]).map(({ title, properties }) => [
    String(properties?.[propertyName]?.const),
    `${COMPONENTS}${title}`,
  ])
  return { ...schema, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
}

/** The schema with each schema that is directly in it replaced by what `visit` makes of it. */
function mapSubschemas(schema: Schema, visit: (schema: Schema) => Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      switch (keyword) {
        case 'properties':
        case 'patternProperties':
          return [keyword, mapValues(value as Record<string, Schema>, visit)]
        case 'anyOf':
        case 'oneOf':
        case 'allOf':
          return [keyword, (value as Schema[]).map(visit)]
        case 'items':
        case 'additionalProperties':
          return [keyword, typeof value === 'object' ? visit(value as Schema) : value]
        default:
          return [keyword, value]
      }
    }),
  )
}

function mapValues<Value>(values: Record<string, Value>, map: (value: Value) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
