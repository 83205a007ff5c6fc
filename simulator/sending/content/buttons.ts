import { isJsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkRequiredText, checkUnique, firstRefusal } from './checks.js'

const { buttons: maxButtons, buttonId: maxIdLength, title: maxTitleLength } = UPSTREAM_LIMITS

/** Checks the action of an interactive message of type button. */
export function checkButtons(action: unknown): Refusal | null {
  if (!isJsonObject(action) || action.buttons === undefined) return refusals.missing('action: buttons is required')
  const { buttons } = action
  if (!Array.isArray(buttons) || buttons.length < 1 || buttons.length > maxButtons) {
    return refusals.invalidValue(`Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: ${maxButtons}`)
  }
  return (
    firstRefusal(buttons, checkButton) ??
    checkUnique(
      buttons.map(({ reply }) => reply.id),
      'Button ids',
    )
  )
}

function checkButton(button: unknown): Refusal | null {
  if (!isJsonObject(button) || !isJsonObject(button.reply)) return refusals.missing('Button reply is required')
  if (button.type !== 'reply') return refusals.invalidValue(`Button type must be reply, but is ${button.type}`)
  return (
    checkRequiredText(button.reply.id, 'Button id', maxIdLength) ??
    checkRequiredText(button.reply.title, 'Button title', maxTitleLength)
  )
}
