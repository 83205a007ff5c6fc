import { type Static, Type } from 'typebox'
import { OptionalText, RequiredText } from '../../../model/fields.js'
import type { Mentions } from '../../../model/messages/content.js'
import { LIMITS } from '../../../model/messages/limits.js'

/** Maximum delay, in milliseconds. The request stays open for the delay. */
const MAX_DELAY_MS = 60_000
const MAX_MENTIONS = 1_024
const MAX_ID = 512
/** The longest text that any channel accepts. The limit of the instance's channel is checked later. */
export const MAX_ANY_TEXT = 65_536

/** The id of a message, either Parley's or the upstream's. */
export const MessageId = RequiredText(MAX_ID, "WhatsApp's or Parley's id")

/** The fields of all messages. */
export const common = {
  number: RequiredText(100, 'Digits with the country code, a JID, or the id of a group'),
  delay: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_DELAY_MS,
      description:
        'How long to show that you are typing before the message is sent, in milliseconds. The answer comes after that.',
    }),
  ),
  quoted: Type.Optional(
    Type.Object({ key: Type.Object({ id: MessageId }) }, { description: 'The message to reply to' }),
  ),
}

/** Further fields of messages with a text. */
export const mentioning = {
  mentioned: Type.Optional(
    Type.Array(Type.String({ pattern: '^\\d{1,40}(@[a-z.]{1,20})?$', description: 'must be a number or a JID' }), {
      minItems: 1,
      maxItems: MAX_MENTIONS,
      uniqueItems: true,
      description: 'The members of a group that the text mentions: numbers or JIDs',
    }),
  ),
  mentionsEveryOne: Type.Optional(Type.Boolean({ description: 'The text mentions all members of the group' })),
}

const Mentioning = Type.Object(mentioning)

/** The mentions of a text, as message content. */
export function mentionsOf({ mentioned, mentionsEveryOne }: Static<typeof Mentioning>): Mentions {
  return {
    ...(mentioned && { mentions: mentioned.map((one) => (one.includes('@') ? one : `${one}@s.whatsapp.net`)) }),
    ...(mentionsEveryOne && { mentionsEveryone: true }),
  }
}

/** A missing text and an empty one both mean "not given". */
export function textOrNull(text: string | undefined): string | null {
  return text || null
}

/** A place's name or address. */
export const Place = OptionalText(LIMITS.place)
