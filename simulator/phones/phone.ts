import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { invalidField, isProblem, missingField, type Problem, problem } from '../control/problems.js'
import { phoneDigits } from '../numbers/phone-numbers.js'
import { isFilled } from '../sending/content/checks.js'
import { generatedNumber } from './codes.js'

/** `connecting`: the phone shows a code. */
export const phoneStates = ['close', 'connecting', 'open'] as const

/** A recorded command to a phone, other than a send. */
export interface PhoneCommand {
  /** ISO 8601. */
  at: string
  command: JsonObject
}

/** A simulated phone: the registered number of a SANDBOX instance, linked by a code as a real phone is. */
export interface Phone {
  /** `<organization_id>/<instance>`. */
  phone_number_id: string
  organization_id: string
  instance: string
  state: (typeof phoneStates)[number]
  /** Digits; null while it is not linked. */
  number: string | null
  /** The owner's name. */
  name: string | null
  /** The text of the QR code that it shows. */
  code: string | null
  /** The pairing code that it shows. */
  pairing_code: string | null
  /** The number for which the pairing code was requested. */
  pairing_number: string | null
  /** The number of codes shown since it was last linked or unlinked. */
  count: number
  /** The newest commands, oldest first. */
  commands: PhoneCommand[]
}

/** Identifies the phone of a control call. */
export interface PhoneName {
  organization_id: string
  instance: string
}

const noCode = { code: null, pairing_code: null, pairing_number: null, count: 0 }

/** The state of a phone that is not linked; it shows no code. */
export const unlinked = { state: 'close', number: null, name: null, ...noCode } as const

/** A phone that is linked under a number. */
export function linked(number: string, name: string | null) {
  return { state: 'open', number, name, ...noCode } as const
}

/**
 * Reads the phone of a registration; null for an ordinary number. `state` and `number` restore a phone after a restart
 * of the simulator; a phone that showed a code must show a new one.
 */
export function readPhone(phoneNumberId: string, body: JsonObject): Phone | null | Problem {
  const { phone = false, state = 'close', number, name } = body
  if (typeof phone !== 'boolean') return invalidField('phone must be true or false')
  if (!phone) return null
  const slash = phoneNumberId.indexOf('/')
  if (slash < 1 || slash === phoneNumberId.length - 1) {
    return invalidField(`The id of a phone is <organization_id>/<instance>, but is ${phoneNumberId}`)
  }
  if (!phoneStates.some((known) => known === state)) {
    return invalidField(`state must be one of ${phoneStates.join(', ')}`)
  }
  const owner = readOwner({ number, name })
  if (isProblem(owner)) return owner
  return {
    phone_number_id: phoneNumberId,
    organization_id: phoneNumberId.slice(0, slash),
    instance: phoneNumberId.slice(slash + 1),
    ...(state === 'open' ? linked(owner.number ?? generatedNumber(phoneNumberId), owner.name) : unlinked),
    commands: [],
  }
}

/** Reads the owner of a phone. Null and absent fields mean the same. */
export function readOwner(body: JsonObject): { number: string | null; name: string | null } | Problem {
  const { number, name } = body
  const digits = typeof number === 'string' ? phoneDigits(number) : null
  if (number !== undefined && number !== null && digits === null) {
    return invalidField(`number must be a phone number with country code, but is ${String(number)}`)
  }
  if (name !== undefined && name !== null && !isFilled(name)) {
    return invalidField('name must be a string that is not empty')
  }
  return { number: digits, name: isFilled(name) ? name : null }
}

/** Finds the phone that a body names by `organization_id` and `instance`. */
export function findPhone(phones: Map<string, Phone>, body: JsonObject): Phone | Problem {
  const name = readPhoneName(body)
  return isProblem(name) ? name : (phones.get(`${name.organization_id}/${name.instance}`) ?? unknownPhone(name))
}

/** True if a body names a phone instead of a number. */
export function namesPhone(body: JsonObject): boolean {
  return body.phone_number_id === undefined && (body.organization_id !== undefined || body.instance !== undefined)
}

export function notOpen({ instance, state }: Phone): Problem {
  return problem(409, 'Phone not linked', `The phone ${instance} is not linked: its state is ${state}, not open`)
}

/** The phone as the control API shows it. */
export function publicPhone({ pairing_number: _number, ...shown }: Phone): object {
  return shown
}

export function readCommand({ command }: JsonObject): JsonObject | Problem {
  if (command === undefined) return missingField('command')
  if (isJsonObject(command) && isFilled(command.verb)) return command
  return invalidField('command must be an object with a verb')
}

function readPhoneName({ organization_id, instance }: JsonObject): PhoneName | Problem {
  for (const [field, value] of Object.entries({ organization_id, instance })) {
    if (value === undefined || value === '') return missingField(field)
    if (typeof value !== 'string') return invalidField(`${field} must be a string`)
  }
  return { organization_id, instance } as PhoneName
}

function unknownPhone({ organization_id: organizationId, instance }: PhoneName): Problem {
  return problem(
    404,
    'Instance not found',
    `The organization ${organizationId} has no SANDBOX instance named ${instance} here`,
  )
}
