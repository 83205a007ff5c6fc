import { Type } from 'typebox'
import { Nullable } from '../fields.js'

/** The most values in one field of parameters. */
export const MAX_PARAMETERS = 100
const MAX_VALUE = 4_096

/** The values of a template's variables in a body, by name or by position. */
export const parameterValues = (description: string) =>
  Type.Optional(
    Nullable(
      Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: MAX_VALUE }), {
        maxProperties: MAX_PARAMETERS,
        description,
      }),
    ),
  )
