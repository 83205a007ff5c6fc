import { asObject, asText, isJsonObject, type JsonObject } from '../../lib/text/json.js'
import { toStorable } from '../../lib/text/text.js'

const FIELDS = [
  'source_url',
  'source_id',
  'source_type',
  'headline',
  'body',
  'media_type',
  'image_url',
  'video_url',
  'thumbnail_url',
  'ctwa_clid',
  'welcome_message',
  'ref',
] as const

/** The ad or post that a person came from, as the upstream names it; null: not known. */
export type Referral = Record<(typeof FIELDS)[number], string | null>

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
  if (!isJsonObject(referral)) return null
  // The welcome message is an object with its text.
  const texts = { ...referral, welcome_message: asObject(referral.welcome_message).text ?? referral.welcome_message }
  const read = Object.fromEntries(FIELDS.map((field) => [field, readText((texts as JsonObject)[field])])) as Referral
  return FIELDS.some((field) => read[field] !== null) ? read : null
}

function readText(value: unknown): string | null {
  const text = asText(value)
  return text && toStorable(text.slice(0, MAX_TEXT))
}
