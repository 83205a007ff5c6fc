import type { JsonObject } from '../../lib/text/json.js'
import { beginningOf } from '../../lib/text/text.js'
import { presentReferral } from '../messages/shown/extras.js'
import type { CommonContent } from '../messages/shown/schemas.js'

/** The ad or post that a person came from, as the upstream names it; null: not known. */
export type Referral = NonNullable<CommonContent['referral']>

/** The referral of a contact, with the message that had it. */
export interface ContactReferral extends Referral {
  /** When the message was written, ISO 8601. */
  at: string
  /** Our id of the message. */
  message_id: string
}

/** All events of a contact contain it, so its texts are cut. */
const MAX_TEXT = 2_048

/** The referral of a message of any type; null if it has none, or one without any known field. */
export function readReferral({ referral }: JsonObject): Referral | null {
  const read = presentReferral(referral)
  return read ? withShortTexts(read) : null
}

function withShortTexts<Texts extends Record<string, string | null>>(texts: Texts): Texts {
  const short = Object.entries(texts).map(([name, text]) => [name, text && beginningOf(text, MAX_TEXT)])
  return Object.fromEntries(short) as Texts
}
