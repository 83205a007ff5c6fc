import { Type } from 'typebox'

/** Path parameter: a contact's id. */
export const contactPath = Type.Object({ contactId: Type.String({ format: 'uuid' }) })

/** The number of a message in its conversation. The history of a phone has numbers below 1. */
export const Seq = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
