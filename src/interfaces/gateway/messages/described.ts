import { type TSchema, Type } from 'typebox'
import type { SendVerb } from './verb.js'

/** Names that fields have within the object of older clients alone. */
const OLDER_NAMES: Record<string, string> = { reaction: 'text' }

/** The body of a verb for /gateway/openapi.json, in its forms; what comes is held to the flat one when it has been folded. */
export function describeBody(verb: SendVerb): object {
  const json = Type.Union([verb.schema, describeNested(verb)], {
    description: 'Flat, or, as older clients write it, with its own fields in an object',
  })
  if (verb.fileField === null) return json
  return { content: { 'application/json': { schema: json }, 'multipart/form-data': { schema: describeForm(verb) } } }
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
