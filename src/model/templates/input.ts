import { Type } from 'typebox'
import { Nullable } from '../input.js'

const MAX_PARAMETERS = 100
const MAX_VALUE = 4_096

/** Values of a template's variables, by name or by position, as a body gives them. */
export const parameterValues = (description: string) =>
  Type.Optional(
    Nullable(
      Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: MAX_VALUE }), {
        maxProperties: MAX_PARAMETERS,
        description,
      }),
    ),
  )
