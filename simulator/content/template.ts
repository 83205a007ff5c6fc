import { isJsonObject, type JsonObject } from '../../src/lib/json.js'
import { type Refusal, refusals } from '../errors.js'
import { isFilled } from './checks.js'

/** Looks at the shape only: which templates there are, and what they need, is not known here. */
export function checkTemplate({ template }: JsonObject): Refusal | null {
  if (!isJsonObject(template)) return required("template['name']")
  const { name, language, components } = template
  if (!isFilled(name)) return required("template['name']")
  if (!isJsonObject(language)) return required("template['language']")
  if (!isFilled(language.code)) return required("template['language']['code']")
  if (components === undefined) return null
  if (!Array.isArray(components)) return refusals.invalidParameter("Param template['components'] must be an array.")
  const broken = components.findIndex((component) => !isJsonObject(component) || !isFilled(component.type))
  return broken === -1 ? null : required(`template['components'][${broken}]['type']`)
}

function required(place: string): Refusal {
  return refusals.invalidParameter(`The parameter ${place} is required.`)
}
