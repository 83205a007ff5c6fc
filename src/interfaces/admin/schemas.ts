import { Type } from 'typebox'

/** The path parameter of one thing. */
export const IdParams = Type.Object({ id: Type.String({ format: 'uuid' }) })
