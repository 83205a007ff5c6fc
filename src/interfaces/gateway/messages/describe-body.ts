import { type TSchema, Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import type { SendVerb } from './verb.js'

/** Names of fields that only the object of older clients uses. */
const OLDER_NAMES: Record<string, string> = { reaction: 'text' }

/** The forms of a verb's body for /gateway/openapi.json. Validation uses the flat one, after the body is normalized. */
export function describeBody(verb: SendVerb): object {
  const name = verb.names[0].replace(/^s/, 'S')
  const json = Type.Union([named(name, verb.schema), named(`${name}Nested`, describeNested(verb))], {
    description: 'Flat, or with its fields in an object, as older clients write it',
  })
  if (verb.fileField === null) return json
  return {
    content: {
      'application/json': { schema: json },
      'multipart/form-data': { schema: named(`${name}Form`, describeForm(verb)) },
    },
  }
}

function describeNested({ schema, shape: { wrapper, fields } }: SendVerb): TSchema {
  const entries = Object.entries(schema.properties as Record<string, TSchema>)
  const own = entries.filter(([name]) => Object.hasOwn(fields, name))
  const others = entries.filter(([name]) => !Object.hasOwn(fields, name))
  const inner = Object.fromEntries(own.map(([name, field]) => [OLDER_NAMES[name] ?? name, field]))
  return Type.Object({ ...Object.fromEntries(others), [wrapper as string]: Type.Object(inner) })
}

function describeForm({ schema, fileField }: SendVerb): TSchema {
  const { [fileField as string]: _file, ...fields } = schema.properties as Record<string, TSchema>
  return Type.Object({ ...fields, file: Type.String({ format: 'binary', description: 'The file itself' }) })
}
