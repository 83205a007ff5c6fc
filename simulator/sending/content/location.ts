import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkOptionalText } from './checks.js'

export function checkLocation({ location }: JsonObject): Refusal | null {
  if (!isJsonObject(location)) return refusals.missing('location is required')
  return (
    checkDegrees(location.latitude, 'location: latitude', 90) ??
    checkDegrees(location.longitude, 'location: longitude', 180) ??
    checkOptionalText(location.name, 'location: name') ??
    checkOptionalText(location.address, 'location: address')
  )
}

/** Accepts numbers and numeric text. */
function checkDegrees(value: unknown, name: string, max: number): Refusal | null {
  if (value === undefined || value === '') return refusals.missing(`${name} is required`)
  const degrees = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof degrees === 'number' && Math.abs(degrees) <= max) return null
  return refusals.invalidValue(`${name} must be a number from -${max} to ${max}`)
}
