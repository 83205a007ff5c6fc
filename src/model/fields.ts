import { type TSchema, Type } from 'typebox'

/** The path parameter `id`. */
export const IdParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

/** The query parameter that names a page; the first is 1. */
export const page = Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1 }))

/** The query parameter for the number of items on a page. */
export const limitOf = (byDefault: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: byDefault }))

export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** A field that may be absent or null. */
export const Maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Nullable(schema))

/** A text that must not be empty. `missing` is the error if it is; the default names the field's path. */
export const RequiredText = (maxLength: number, description = '', missing: string | true = true) =>
  Type.String({ minLength: 1, maxLength, 'x-missing': missing, ...(description && { description }) })

/** A text that may be absent or empty. */
export const OptionalText = (maxLength: number, description = '') =>
  Type.Optional(Type.String({ maxLength, ...(description && { description }) }))

/** A list that must not be empty. `missing` as in RequiredText. */
export const RequiredList = <Schema extends TSchema>(
  schema: Schema,
  maxItems: number,
  { minItems = 1, missing = true }: { minItems?: number; missing?: string | true } = {},
) => Type.Array(schema, { minItems, maxItems, 'x-missing': missing })

/** The place of a location message. `missing` as in RequiredText. */
export const coordinates = (missing: string | true = true) => ({
  latitude: Type.Number({ minimum: -90, maximum: 90, 'x-missing': missing }),
  longitude: Type.Number({ minimum: -180, maximum: 180, 'x-missing': missing }),
})
