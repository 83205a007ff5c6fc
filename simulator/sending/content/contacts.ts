import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkOptionalText, checkRequiredText, firstRefusal, isFilled } from './checks.js'

const { cards: maxContacts } = UPSTREAM_LIMITS
const nameParts = ['first_name', 'last_name', 'middle_name', 'prefix', 'suffix']
const lists = ['phones', 'emails', 'urls', 'addresses']

export function checkContacts({ contacts }: JsonObject): Refusal | null {
  if (contacts === undefined) return refusals.missing('contacts is required')
  if (!Array.isArray(contacts) || contacts.length < 1 || contacts.length > maxContacts) {
    return refusals.invalidValue(`contacts must be an array of 1 to ${maxContacts} contacts`)
  }
  return firstRefusal(contacts, (contact, index) => checkContact(contact, `contacts[${index}]`))
}

function checkContact(contact: unknown, path: string): Refusal | null {
  if (!isJsonObject(contact)) return refusals.invalidValue(`${path} must be an object`)
  return (
    checkName(contact.name, `${path}: name`) ??
    firstRefusal(lists, (list) => checkList(contact[list], `${path}: ${list}`)) ??
    checkBirthday(contact.birthday, `${path}: birthday`)
  )
}

function checkName(name: unknown, path: string): Refusal | null {
  if (!isJsonObject(name)) return refusals.missing(`${path} is required`)
  const refusal =
    checkRequiredText(name.formatted_name, `${path}: formatted_name`) ??
    firstRefusal(nameParts, (part) => checkOptionalText(name[part], `${path}: ${part}`))
  if (refusal) return refusal
  if (nameParts.some((part) => isFilled(name[part]))) return null
  return refusals.missing(`${path}: at least one of ${nameParts.join(', ')} is required in addition to formatted_name`)
}

function checkList(list: unknown, path: string): Refusal | null {
  if (list === undefined || (Array.isArray(list) && list.every(isJsonObject))) return null
  return refusals.invalidValue(`${path} must be an array of objects`)
}

function checkBirthday(birthday: unknown, path: string): Refusal | null {
  if (birthday === undefined || (typeof birthday === 'string' && /^\d{4}-\d\d-\d\d$/.test(birthday))) return null
  return refusals.invalidValue(`${path} must be written YYYY-MM-DD`)
}
