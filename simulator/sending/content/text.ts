import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { isLonger } from './checks.js'

const { text: maxTextLength } = UPSTREAM_LIMITS

export function checkText({ text }: JsonObject): Refusal | null {
  if (!isJsonObject(text) || text.body === undefined || text.body === '') {
    return refusals.invalidParameter("The parameter text['body'] is required.")
  }
  if (typeof text.body !== 'string') return refusals.invalidParameter("Param text['body'] must be a string.")
  if (isLonger(text.body, maxTextLength)) {
    return refusals.invalidParameter(`Param text['body'] must be at most ${maxTextLength} characters long.`)
  }
  if (text.preview_url !== undefined && typeof text.preview_url !== 'boolean') {
    return refusals.invalidValue('text: preview_url must be a boolean')
  }
  return null
}
