import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkName, parametersOf } from './actions.js'
import { checkOptionalText, checkRequiredText, firstRefusal } from './checks.js'

const texts = ['flow_id', 'flow_name', 'flow_token']
const modes = ['draft', 'published']
const actions = ['navigate', 'data_exchange']

/** Checks the action of a button that opens a form. */
export function checkFlow(action: unknown): Refusal | null {
  const refusal = checkName(action, 'flow')
  if (refusal) return refusal
  const parameters = parametersOf(action)
  if (!parameters) return refusals.missing('action: parameters is required')
  return checkParameters(parameters) ?? checkPayload(parameters)
}

function checkParameters(parameters: JsonObject): Refusal | null {
  const { flow_message_version: version, flow_id: id, flow_name: name, flow_cta, mode, flow_action } = parameters
  if (version === undefined) return refusals.missing('action: flow_message_version is required')
  if (version !== '3') return refusals.invalidValue(`action: flow_message_version must be 3, but is ${version}`)
  if (id === undefined && name === undefined) return refusals.missing('action: flow_id or flow_name is required')
  if (id !== undefined && name !== undefined) {
    return refusals.invalidValue('action: flow_id cannot be used with flow_name')
  }
  return (
    firstRefusal(texts, (field) => checkOptionalText(parameters[field], `action: ${field}`)) ??
    checkRequiredText(flow_cta, 'action: flow_cta', UPSTREAM_LIMITS.flowTitle) ??
    checkWord(mode, 'mode', modes) ??
    checkWord(flow_action, 'flow_action', actions)
  )
}

function checkWord(word: unknown, name: string, words: string[]): Refusal | null {
  if (word === undefined || words.includes(String(word))) return null
  return refusals.invalidValue(`action: ${name} must be one of ${words.join(', ')}, but is ${word}`)
}

/** The first screen belongs to `navigate` only, and its data are not empty. */
function checkPayload({ flow_action: action, flow_action_payload: payload }: JsonObject): Refusal | null {
  if (payload === undefined) return null
  if (action === 'data_exchange') {
    return refusals.invalidValue('action: flow_action_payload cannot be used with data_exchange')
  }
  if (!isJsonObject(payload)) return refusals.invalidValue('action: flow_action_payload must be an object')
  const refusal = checkRequiredText(payload.screen, 'action: flow_action_payload: screen')
  const { data } = payload
  if (refusal || data === undefined) return refusal
  if (isJsonObject(data) && Object.keys(data).length > 0) return null
  return refusals.invalidValue('action: flow_action_payload: data must be an object that is not empty')
}
