import { Type } from 'typebox'

/** The query parameter that says which kind of file it is to be. */
export const format = Type.Optional(Type.Enum(['csv', 'json'], { default: 'csv' }))

/** An answer that is a file in either format. */
export const fileAnswer = (description: string, json: ReturnType<typeof Type.Object>) => ({
  200: {
    description,
    content: { 'text/csv': { schema: Type.String() }, 'application/json': { schema: json } },
  },
})
