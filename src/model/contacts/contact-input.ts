import { Type } from 'typebox'
import { Maybe, Nullable } from '../fields.js'
import { MAX_NUMBER_INPUT } from './written-number.js'

/** The fields of contacts that clients may set, by the API or in a file. */

export const Email = Type.String({
  maxLength: 320,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  description: 'must be an e-mail address',
  'x-pattern': 'email',
})
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 })
/** A field for the upstream's user id of a person. */
export const userIdField = (description: string) =>
  Maybe(Type.String({ minLength: 1, maxLength: MAX_NUMBER_INPUT, description }))
/** In characters. */
export const MAX_FULL_NAME = 255
const FullName = Type.String({ maxLength: MAX_FULL_NAME })

export const CreateContact = Type.Object({
  phone_number: Type.Optional(
    Nullable(
      Type.String({
        maxLength: MAX_NUMBER_INPUT,
        description: 'With country code, in any form; or chat_id, or user_id',
      }),
    ),
  ),
  chat_id: Type.Optional(
    Nullable(Type.String({ maxLength: MAX_NUMBER_INPUT, description: 'Normalized digits-only number' })),
  ),
  user_id: userIdField("WhatsApp's user id of the person, beside or instead of a number"),
  full_name: Type.Optional(Nullable(FullName)),
  email: Type.Optional(Nullable(Email)),
  tags: Type.Optional(Tags),
  allow_broadcast: Type.Optional(Type.Boolean()),
  source: Type.Optional(
    Nullable(Type.Object({ type: Type.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: true })),
  ),
})

export const ChangeContact = Type.Object({
  full_name: Type.Optional(Nullable(FullName)),
  email: Type.Optional(Nullable(Email)),
  tags: Type.Optional(Tags),
  allow_broadcast: Type.Optional(Type.Boolean()),
  archived: Type.Optional(Type.Boolean()),
  blocked: Type.Optional(Type.Boolean()),
  bot_status: Type.Optional(Nullable(Type.Enum(['active', 'paused']))),
  contact_summary: Type.Optional(Nullable(Type.String({ maxLength: 10_000 }))),
})

/** A row of an import file: the fields of a new contact, and those that can be changed. */
export const ImportContact = Type.Object({ ...CreateContact.properties, ...ChangeContact.properties })
