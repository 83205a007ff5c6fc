import { type Static, type TObject, Type } from 'typebox'

/** One of several named objects. The property `propertyName` selects the object whose checks and errors apply. */
export const OneOf = <Schemas extends TObject[]>(propertyName: string, schemas: Schemas, missing: string | true) =>
  Type.Unsafe<Static<Schemas[number]>>({
    type: 'object',
    required: [propertyName],
    discriminator: { propertyName },
    oneOf: schemas,
    'x-missing': missing,
  })

/** An absent field, null and an empty text all mean that an optional text is not given. */
export function textOrNull(text: string | null | undefined): string | null {
  return text || null
}
