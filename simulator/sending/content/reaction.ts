import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { isFilled } from './checks.js'

export function checkReaction({ reaction, context }: JsonObject): Refusal | null {
  if (!isJsonObject(reaction)) return refusals.missing('reaction is required')
  if (!isFilled(reaction.message_id)) return refusals.missing('reaction: message_id is required')
  if (reaction.emoji === undefined) return refusals.missing('reaction: emoji is required')
  if (typeof reaction.emoji !== 'string') return refusals.invalidValue('reaction: emoji must be a string')
  if (context !== undefined) return refusals.invalidParameter('Unexpected key "context" on a message of type reaction.')
  return null
}
