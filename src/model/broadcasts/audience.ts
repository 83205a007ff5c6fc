import { type Static, Type } from 'typebox'
import { MAX_FULL_NAME } from '../contacts/contact-input.js'
import { type DoubtfulNumber, MAX_NUMBER_INPUT } from '../contacts/written-number.js'
import { Nullable } from '../fields.js'
import { Problem } from '../problem.js'
import { parameterValues } from '../templates/input.js'

/** The most entries of a list of recipients in a body. */
const MAX_LISTED = 100_000
/** Where those go that do not fit into a body. */
export const LARGER_AUDIENCES =
  'upload longer lists of recipients with POST /audiences, and give the id of the new audience as audience.audienceId'

/** A recipient, in a body and in a line of a file. */
export const RecipientBody = Type.Object({
  chatNumber: Type.String({ minLength: 1, maxLength: MAX_NUMBER_INPUT }),
  name: Type.Optional(
    Nullable(Type.String({ maxLength: MAX_FULL_NAME, description: 'The name if the contact is new' })),
  ),
  bodyParameters: parameterValues("Its own values; they go before the broadcast's"),
  buttonParameters: parameterValues("Its own values; they go before the broadcast's"),
})

/** The audience of a broadcast, in a body. */
export const AudienceBody = Type.Object(
  {
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        description: 'Contacts that have any of these tags',
      }),
    ),
    contactIds: Type.Optional(Type.Array(Type.String({ format: 'uuid' }), { maxItems: MAX_LISTED })),
    recipients: Type.Optional(
      Type.Array(RecipientBody, {
        maxItems: MAX_LISTED,
        description: 'Phone numbers; unknown numbers become contacts',
      }),
    ),
    audienceId: Type.Optional(
      Type.String({ format: 'uuid', description: 'An uploaded audience: see POST /audiences' }),
    ),
    all: Type.Optional(Type.Boolean({ description: 'Every contact' })),
  },
  {
    description:
      'The recipients; the kinds are combined, and no contact receives it twice. Lists that are too long for a body of 1 MB: POST /audiences',
  },
)

/**
 * At least one kind of recipient is required. Recipients that a member has pasted are read as a table. Throws
 * missing_field.
 */
export function readAudience(
  { tags = [], contactIds = [], recipients = [], audienceId, all = false }: Static<typeof AudienceBody>,
  isPasted: boolean,
) {
  if (tags.length + contactIds.length + recipients.length === 0 && audienceId === undefined && !all) {
    throw new Problem(
      'missing_field',
      'audience is required: give tags, contactIds, recipients, audienceId, or all: true',
    )
  }
  return {
    ...(all ? { all: true } : tags.length > 0 ? { tags } : {}),
    ...(isPasted && { numbers: 'table' as const }),
    contactIds,
    recipients,
    audienceId: audienceId ?? null,
  }
}

/** How many recipients a broadcast would reach, and why it would skip the others. */
export interface AudienceCount {
  /** All named recipients, reachable and skipped; a recipient named twice counts twice. */
  total: number
  reachable: number
  /** By reason (SKIP_REASONS of model/broadcasts/broadcast), most frequent first. */
  skipped: { reason: string; count: number }[]
  /** How many listed numbers have no country code and were read as another country's, or can be read both ways. */
  doubts: number
  /** The first 100 of them. */
  doubtful: DoubtfulNumber[]
}
