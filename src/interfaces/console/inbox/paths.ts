import { Type } from 'typebox'

/** Path parameter: a contact's id. */
export const contactPath = Type.Object({ contactId: Type.String({ format: 'uuid' }) })

/** The number of a message in its conversation. */
export const Seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
