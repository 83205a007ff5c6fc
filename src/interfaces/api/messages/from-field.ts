import { Type } from 'typebox'
import { MAX_NUMBER_INPUT } from '../../../model/contacts/written-number.js'
import { Maybe } from '../../../model/fields.js'

/** The business number that sends. */
export const from = Maybe(
  Type.String({
    minLength: 1,
    maxLength: MAX_NUMBER_INPUT,
    description:
      "The business number that sends: one of the organization's (GET /numbers), by its phone number in any form, or by its id. By default the one that the contact last wrote to, else the first.",
  }),
)
