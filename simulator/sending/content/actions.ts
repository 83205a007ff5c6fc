import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkRequiredText, checkUnique, firstRefusal } from './checks.js'

/** Returns the check of an action that has a name and nothing else. */
export function checkPlainRequest(name: string): (action: unknown) => Refusal | null {
  return (action) => checkName(action, name)
}

/** Checks the action of a button that opens an address. */
export function checkUrlAction(action: unknown): Refusal | null {
  const refusal = checkName(action, 'cta_url')
  if (refusal) return refusal
  const parameters = parametersOf(action)
  if (!parameters) return refusals.missing('action: parameters is required')
  return (
    checkRequiredText(parameters.display_text, 'action: display_text', UPSTREAM_LIMITS.title) ??
    checkRequiredText(parameters.url, 'action: url') ??
    checkAddress(String(parameters.url), 'action: url')
  )
}

/** Checks the action of a message that asks for an address. */
export function checkAddressRequest(action: unknown): Refusal | null {
  const refusal = checkName(action, 'address_message')
  if (refusal) return refusal
  const parameters = parametersOf(action)
  if (!parameters) return refusals.missing('action: parameters is required')
  const { country, values, saved_addresses: saved = [] } = parameters
  if (country === undefined) return refusals.missing('action: country is required')
  if (typeof country !== 'string' || !/^[A-Z]{2}$/.test(country)) {
    return refusals.invalidValue('action: country must be a country code of two capital letters')
  }
  if (values !== undefined && !isTexts(values)) {
    return refusals.invalidValue('action: values must be an object of strings')
  }
  if (!Array.isArray(saved)) return refusals.invalidValue('action: saved_addresses must be an array')
  return (
    firstRefusal(saved, checkSaved) ??
    checkUnique(
      saved.map((address: JsonObject) => address.id),
      'Saved address ids',
    )
  )
}

function checkSaved(address: unknown): Refusal | null {
  if (!isJsonObject(address)) return refusals.invalidValue('Saved address must be an object')
  const refusal = checkRequiredText(address.id, 'Saved address id')
  if (refusal || isTexts(address.value)) return refusal
  return refusals.invalidValue('Saved address value must be an object of strings')
}

/** Refuses an action of another name. */
export function checkName(action: unknown, name: string): Refusal | null {
  if (!isJsonObject(action) || action.name === undefined) return refusals.missing('action: name is required')
  if (action.name === name) return null
  return refusals.invalidValue(`action: name must be ${name}, but is ${action.name}`)
}

/** The parameters of a named action; null if they are missing. */
export function parametersOf(action: unknown): JsonObject | null {
  return isJsonObject(action) && isJsonObject(action.parameters) ? action.parameters : null
}

/** Refuses a text that is not an http or https address. */
export function checkAddress(text: string, name: string): Refusal | null {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  return protocol === 'http:' || protocol === 'https:' ? null : refusals.invalidValue(`${name} is not a valid URL`)
}

function isTexts(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string')
}
