import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkRequiredText, checkUnique, firstRefusal } from './checks.js'

const maxNameLength = 255
const minOptions = 2
const maxOptions = 12
const maxOptionLength = 100

/** Checks a poll; a `selectable_count` of 0 means any number of options. */
export function checkPoll({ poll }: JsonObject): Refusal | null {
  if (!isJsonObject(poll)) return refusals.missing('poll is required')
  const { name, options, selectable_count: count = 0 } = poll
  if (!Array.isArray(options) || options.length < minOptions || options.length > maxOptions) {
    return refusals.invalidValue(`poll: options must be an array of ${minOptions} to ${maxOptions} texts`)
  }
  const isCount = typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= options.length
  if (!isCount)
    return refusals.invalidValue('poll: selectable_count must be a whole number from 0 to the number of options')
  return (
    checkRequiredText(name, 'poll: name', maxNameLength) ??
    firstRefusal(options, (option, index) => checkRequiredText(option, `poll: options[${index}]`, maxOptionLength)) ??
    checkUnique(options, 'Poll options')
  )
}
